import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { close, listen } from "./loopback.ts";

/** A request of an SDK client, as far as any service reads it. */
export interface AwsRequest {
  method: string;
  /** Percent-decoded, without the query. */
  path: string;
  query: URLSearchParams;
  /** `X-Amz-Target`, by which AWS JSON services name the operation; "" for the others. */
  target: string;
  body: string;
}

export interface AwsAnswer {
  status?: number;
  headers?: Record<string, string>;
  /** Sent as JSON, unless it is text already. */
  body: unknown;
}

/** Answers the requests of one service; undefined leaves a request to the others. @throws {AwsError} */
export type AwsService = (request: AwsRequest) => AwsAnswer | undefined | Promise<AwsAnswer | undefined>;

/** A refusal in AWS's own words; the SDK makes a named exception of it. */
export class AwsError extends Error {
  readonly type: string;
  readonly status: number;

  constructor(type: string, message: string, status = 400) {
    super(message);
    this.type = type;
    this.status = status;
  }
}

/**
 * The AWS services that no engine stands in for, at one local endpoint. The SDK clients are pointed here for every
 * service that has no other endpoint, so that nothing local ever reaches AWS.
 */
export async function startAwsEndpoint(services: readonly AwsService[]) {
  const server = createServer((request, response) => {
    answer(services, request, response).catch((error: unknown) => {
      console.error("local AWS endpoint:", error);
      reply(response, { status: 500, body: { __type: "InternalFailure", message: "The local endpoint failed." } });
    });
  });
  const port = await listen(server, 0);
  return { endpoint: `http://127.0.0.1:${port}`, stop: () => close(server) };
}

async function answer(services: readonly AwsService[], request: IncomingMessage, response: ServerResponse) {
  const asked = await read(request);
  try {
    for (const service of services) {
      const answered = await service(asked);
      if (answered) return reply(response, answered);
    }
    const { target, method, path } = asked;
    throw new AwsError(
      "UnknownOperationException",
      `The local endpoint does not know ${target || `${method} ${path}`}.`,
    );
  } catch (error) {
    if (!(error instanceof AwsError)) throw error;
    const { type, message, status } = error;
    // AWS JSON services name the error in the body, REST ones in a header.
    reply(response, {
      status,
      headers: { "x-amzn-errortype": type },
      body: { __type: type, message, Message: message },
    });
  }
}

async function read(request: IncomingMessage): Promise<AwsRequest> {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://local");
  return {
    method: request.method ?? "GET",
    path: decodeURIComponent(pathname),
    query: searchParams,
    target: String(request.headers["x-amz-target"] ?? ""),
    body: await text(request),
  };
}

function reply(response: ServerResponse, { status = 200, headers, body }: AwsAnswer): void {
  const sent = typeof body === "string" ? body : JSON.stringify(body);
  response.writeHead(status, { "content-type": "application/x-amz-json-1.1", ...headers }).end(sent);
}
