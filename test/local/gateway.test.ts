import { request as httpRequest, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import type { APIGatewayProxyEventV2 } from "aws-lambda";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type Gateway, type HttpHandler, startGateway } from "../../infra/local/gateway.ts";

const echo: HttpHandler = async (event) => ({
  statusCode: 200,
  headers: { "content-type": "application/json" },
  body: JSON.stringify(event),
});

let gateway: Gateway;
const never = Promise.withResolvers<never>();

beforeAll(async () => {
  const routes = new Map<string, HttpHandler>([
    ["POST /v1/tools/call_agent", echo],
    ["POST /throws", async () => Promise.reject(new Error("secret detail"))],
    ["POST /hangs", () => never.promise],
    ["POST /huge", async () => ({ statusCode: 200, body: '"'.repeat(4_000_000) })],
    ["POST /binary", async () => ({ statusCode: 201, cookies: ["a=1", "b=2"], body: "AAEC", isBase64Encoded: true })],
  ]);
  gateway = await startGateway({ routes, fallback: echo, port: 0, timeoutMs: 50 });
});

afterAll(() => gateway.stop(0));

async function eventOf(path: string, init: RequestInit = {}): Promise<APIGatewayProxyEventV2> {
  const response = await fetch(gateway.url + path, init);
  return (await response.json()) as APIGatewayProxyEventV2;
}

describe("the event of a request", () => {
  test("has the fields of payload format 2.0", async () => {
    const event = await eventOf("/v1/tools/call_agent", { method: "POST", headers: { "User-Agent": "agent/1" } });
    expect(event).toMatchObject({
      version: "2.0",
      routeKey: "POST /v1/tools/call_agent",
      rawPath: "/v1/tools/call_agent",
      rawQueryString: "",
      headers: { host: new URL(gateway.url).host, "user-agent": "agent/1", "x-forwarded-for": "127.0.0.1" },
      requestContext: {
        stage: "$default",
        routeKey: "POST /v1/tools/call_agent",
        domainName: "127.0.0.1",
        http: {
          method: "POST",
          path: "/v1/tools/call_agent",
          protocol: "HTTP/1.1",
          sourceIp: "127.0.0.1",
          userAgent: "agent/1",
        },
      },
    });
    expect(event.requestContext.time).toMatch(/^\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d \+0000$/);
    expect(Math.abs(event.requestContext.timeEpoch - Date.now())).toBeLessThan(5_000);
    expect(event).not.toHaveProperty("queryStringParameters");
    expect(event).not.toHaveProperty("cookies");
  });

  test("has no body when none was sent", async () => {
    const event = await eventOf("/v1/tools/call_agent", { method: "POST" });
    expect(event).not.toHaveProperty("body");
    expect(event.isBase64Encoded).toBe(false);
  });

  test.each(["application/json", "Application/JSON; charset=utf-8", "text/plain", "application/problem+json"])(
    "has the body as text when it is %s",
    async (type) => {
      const body = '{ "a":1.0, "b":"中" }';
      const event = await eventOf("/v1/tools/call_agent", { method: "POST", headers: { "content-type": type }, body });
      expect(event).toMatchObject({ body, isBase64Encoded: false });
    },
  );

  test.each(["application/x-www-form-urlencoded", "application/octet-stream", ""])(
    "has the body in base64 when its content type is '%s'",
    async (type) => {
      const body = '{"to":"b","content":"中"}';
      const headers: Record<string, string> = type ? { "content-type": type } : {};
      const event = await eventOf("/v1/tools/call_agent", { method: "POST", headers, body: new Blob([body]) });
      expect(event.isBase64Encoded).toBe(true);
      expect(Buffer.from(String(event.body), "base64").toString()).toBe(body);
    },
  );

  test("joins repeated headers with commas, in lower case", async () => {
    const event = JSON.parse(await sendHeaders({ "X-Many": ["a", "b"], Authorization: "Bearer k" }));
    expect(event.headers).toMatchObject({ "x-many": "a,b", authorization: "Bearer k" });
  });

  test("decodes the path, keeps the query as it was sent and joins repeated parameters", async () => {
    const event = await eventOf("/a%20b/%E4%B8%AD?x=1&x=%2B&y=");
    expect(event).toMatchObject({
      routeKey: "$default",
      rawPath: "/a b/中",
      rawQueryString: "x=1&x=%2B&y=",
      queryStringParameters: { x: "1,+", y: "" },
    });
  });

  test("keeps a path that can't be decoded as it was sent", async () => {
    expect((await eventOf("/%ff%")).rawPath).toBe("/%ff%");
  });

  test("has cookies in a field of their own", async () => {
    const event = await eventOf("/", { headers: { cookie: "a=1; b=2" } });
    expect(event.cookies).toEqual(["a=1", "b=2"]);
    expect(event.headers).not.toHaveProperty("cookie");
  });

  test.each(["/v1/tools/call_agent/", "/v1/tools/__proto__", "/v1/tools/constructor", "/v1/tools/Call_Agent"])(
    "goes to the default route for %s",
    async (path) => {
      expect((await eventOf(path, { method: "POST" })).routeKey).toBe("$default");
    },
  );

  test.each(["GET", "OPTIONS", "DELETE"])("goes to the default route for %s at a tool", async (method) => {
    expect((await eventOf("/v1/tools/call_agent", { method })).routeKey).toBe("$default");
  });
});

describe("the response", () => {
  test("is the function's, decoded and with its cookies", async () => {
    const response = await fetch(`${gateway.url}/binary`, { method: "POST" });
    expect(response.status).toBe(201);
    expect(response.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
    expect([...(await response.bytes())]).toEqual([0, 1, 2]);
  });

  test("is 413 when the request is over 10 MB", async () => {
    const response = await fetch(gateway.url, { method: "POST", body: Buffer.alloc(10 * 1024 * 1024 + 1) });
    expect(response.status).toBe(413);
    expect(await response.json()).toEqual({ message: "Request Too Long" });
  });

  test.each([
    ["throws", "/throws"],
    ["answers more than Lambda allows", "/huge"],
  ])("is a neutral 500 when the function %s", async (_, path) => {
    const log = vi.spyOn(console, "error").mockImplementation(() => {});
    const response = await fetch(gateway.url + path, { method: "POST" });
    expect(response.status).toBe(500);
    expect(await response.json()).toEqual({ message: "Internal Server Error" });
    expect(log).toHaveBeenCalledOnce();
    log.mockRestore();
  });

  test("is 503 when the function takes longer than the integration timeout", async () => {
    const response = await fetch(`${gateway.url}/hangs`, { method: "POST" });
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({ message: "Service Unavailable" });
  });
});

test("a port in use is said in one sentence", async () => {
  const another = startGateway({ routes: new Map(), fallback: echo, port: gateway.port });
  await expect(another).rejects.toThrow(`Port ${gateway.port} is in use. Choose another one with --port.`);
});

test("stopping waits for the requests that run", async () => {
  const release = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  const slow: HttpHandler = async () => {
    started.resolve();
    await release.promise;
    return { statusCode: 200, body: "done" };
  };
  const stopping = await startGateway({ routes: new Map(), fallback: slow, port: 0 });
  const response = fetch(stopping.url);
  await started.promise;
  const stopped = stopping.stop(10_000);
  release.resolve();
  await stopped;
  expect(await (await response).text()).toBe("done");
});

/** Sends each value as a header of its own, which `fetch` would merge into one. */
async function sendHeaders(headers: Record<string, string | string[]>): Promise<string> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    httpRequest(gateway.url, { headers }, resolve).on("error", reject).end();
  });
  return text(response);
}
