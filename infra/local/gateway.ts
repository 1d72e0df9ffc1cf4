import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import { gatewayEvent, pathOf } from "./gateway_event.ts";
import { listen } from "./loopback.ts";
import { settled } from "./settled.ts";

/** A Lambda function behind the HTTP API. */
export type HttpHandler = (event: APIGatewayProxyEventV2) => Promise<APIGatewayProxyStructuredResultV2>;

/** The HTTP API's own limits. */
const requestBytes = 10 * 1024 * 1024;
const integrationTimeoutMs = 30_000;
/** Lambda's, for a whole answer as JSON. */
const answerBytes = 6_291_556;

interface Options {
  /** By route key, for example `POST /v1/tools/call_agent`. */
  routes: ReadonlyMap<string, HttpHandler>;
  /** The `$default` route: everything else. */
  fallback: HttpHandler;
  /** 0 takes a free one. */
  port: number;
  timeoutMs?: number;
}

export interface Gateway {
  url: string;
  port: number;
  /** Takes no more requests and waits for those that run, at most `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

/**
 * Stands in for API Gateway's HTTP API: turns each request into an event of payload format 2.0, runs the
 * function of its route, and turns its answer into a response. Listens on 127.0.0.1 only.
 */
export async function startGateway(options: Options): Promise<Gateway> {
  const running = new Set<Promise<void>>();
  const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
    const exchange = serve(request, response, options).finally(() => running.delete(exchange));
    running.add(exchange);
  });
  const port = await listen(server, options.port);
  const stop = async (graceMs: number) => {
    const closed = new Promise((resolve) => server.close(resolve));
    await settled(running, graceMs);
    server.closeAllConnections();
    await closed;
  };
  return { url: `http://127.0.0.1:${port}`, port, stop };
}

async function serve(request: IncomingMessage, response: ServerResponse, options: Options): Promise<void> {
  try {
    const body = await readBody(request);
    if (body === undefined) return send(response, own(413, "Request Too Long"));
    const routeKey = `${request.method} ${pathOf(request)}`;
    const handler = options.routes.get(routeKey);
    const event = gatewayEvent(request, body, handler ? routeKey : "$default");
    response.setHeader("apigw-requestid", event.requestContext.requestId);
    send(response, await run(handler ?? options.fallback, event, options.timeoutMs ?? integrationTimeoutMs));
  } catch (error) {
    // The client went away in the middle of its request.
    if (request.errored) return;
    console.error("gateway:", error);
    response.destroy();
  }
}

/** The whole body; undefined when it is over the limit. It is read to its end all the same, so that the client reads our answer. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= requestBytes) chunks.push(chunk);
  }
  return bytes <= requestBytes ? Buffer.concat(chunks) : undefined;
}

async function run(handler: HttpHandler, event: APIGatewayProxyEventV2, timeoutMs: number) {
  let timer: NodeJS.Timeout | undefined;
  // The gateway gives up; the function runs on, as it does on AWS.
  const timeout = new Promise<APIGatewayProxyStructuredResultV2>((resolve) => {
    timer = setTimeout(() => resolve(own(503, "Service Unavailable")), timeoutMs);
  });
  try {
    const answer = await Promise.race([handler(event), timeout]);
    const bytes = Buffer.byteLength(JSON.stringify(answer));
    if (bytes > answerBytes) throw new Error(`The answer has ${bytes} bytes as JSON; Lambda allows ${answerBytes}.`);
    return answer;
  } catch (error) {
    console.error(`gateway: ${event.routeKey} failed:`, error);
    return own(500, "Internal Server Error");
  } finally {
    clearTimeout(timer);
  }
}

/** An answer of the gateway itself. */
const own = (statusCode: number, message: string): APIGatewayProxyStructuredResultV2 => ({
  statusCode,
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ message }),
});

function send(response: ServerResponse, answer: APIGatewayProxyStructuredResultV2): void {
  const { statusCode = 200, headers = {}, cookies = [], body = "", isBase64Encoded = false } = answer;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, String(value));
  if (cookies.length > 0) response.setHeader("set-cookie", cookies);
  const bytes = Buffer.from(body, isBase64Encoded ? "base64" : "utf8");
  response.setHeader("content-length", bytes.length);
  response.writeHead(statusCode).end(bytes);
}
