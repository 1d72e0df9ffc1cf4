import { afterAll, expect, test } from "vitest";
import type { GatewayEvent } from "../../functions/_runtime/request.ts";
import type { HttpHandler } from "../../infra/local/gateway.ts";
import { noFunctions, startTestSystem } from "../system.ts";
import { message, post, toolCall } from "./post.ts";

/* What passes between the MCP worker and a tool's Lambda, with other functions in the tools' place. */

const events: GatewayEvent[] = [];
let answer: () => { statusCode: number; headers: Record<string, string>; body: string };
const json = (statusCode: number, body: object, headers: Record<string, string> = {}) => {
  answer = () => ({ statusCode, headers, body: JSON.stringify(body) });
};

const tool: HttpHandler = async (event) => {
  events.push(event as unknown as GatewayEvent);
  return answer();
};
// Loaded only when it is called: the environment is set by then.
const mcp: HttpHandler = async (event) => (await import("../../functions/_workers/mcp/handler.ts")).handler(event);
const tools = new Map(["list_agents", "call_agent", "register_agent"].map((name) => [name, tool]));
const { url, key, stop } = await startTestSystem({}, { ...noFunctions, tools, mcp });
afterAll(stop);

const call = (name: string, input?: unknown, meta?: object) => post(url, toolCall(name, input, meta), { key });
const agents = { code: 0, msg: "", agents: [], next_cursor: "" };

test("a tool gets the request that it would have got over HTTP, and the way that it came", async () => {
  json(200, agents, { "x-request-id": "r-1" });
  const before = Date.now();
  await call("list_agents", { skill: "x" }, { "switchboard/prefer": "wait=3", idempotencyKey: "k-1" });
  expect(events.at(-1)).toMatchObject({
    version: "2.0",
    routeKey: "POST /mcp",
    rawPath: "/v1/tools/list_agents",
    headers: { authorization: `Bearer ${key}`, prefer: "wait=3", "idempotency-key": "k-1" },
    body: '{"skill":"x"}',
    isBase64Encoded: false,
    requestContext: { requestId: expect.stringMatching(/\S/), http: { method: "POST" } },
  });
  // The gateway's 30 s count from here, however long it took to come this far.
  const at = Number(events.at(-1)?.requestContext.timeEpoch);
  expect(at).toBeGreaterThanOrEqual(before);
  expect(at).toBeLessThanOrEqual(Date.now());
});

test("arguments reach the tool as they came, since it forgives more than the protocol", async () => {
  json(200, agents);
  for (const [sent, received] of [
    [undefined, ""],
    [null, "null"],
    ["", '""'],
    ['{"skill": "x"}', '"{\\"skill\\": \\"x\\"}"'],
    [["x"], '["x"]'],
  ]) {
    expect(await call("list_agents", sent)).toMatchObject({
      status: 200,
      body: { result: { structuredContent: agents } },
    });
    expect(events.at(-1)?.body).toBe(received);
  }
});

test("a wait that the client's address settings ask for holds for calls that say nothing of it", async () => {
  json(200, agents);
  await post(url, toolCall("list_agents"), { key, headers: { prefer: "wait=5" } });
  expect(events.at(-1)?.headers.prefer).toBe("wait=5");
  await post(url, toolCall("list_agents", {}, { prefer: "respond-async" }), { key, headers: { prefer: "wait=5" } });
  expect(events.at(-1)?.headers.prefer).toBe("respond-async");
});

test("a tool's 401 is the answer's, with the scheme and the request's id", async () => {
  const error = { type: "UNAUTHENTICATED", message: "Expired.", hint: "Get a key.", retryable: false };
  json(401, { code: 401, msg: "Expired.", error }, { "www-authenticate": "Bearer" });
  const refused = await call("list_agents");
  expect(refused).toMatchObject({ status: 401, body: { id: 1, error: { data: { type: "UNAUTHENTICATED" } } } });
  expect(refused.headers.get("www-authenticate")).toMatch(/^Bearer/);
});

test("a function that fails leaves a result in the tool's shape, with the key to repeat it by, and no word of why", async () => {
  answer = () => {
    throw new Error("secret reason");
  };
  const { status, body } = await call("register_agent", { agent_name: "writer", role: "member" });
  expect(status).toBe(200);
  expect(body).toMatchObject({
    result: {
      isError: true,
      structuredContent: { code: 500, agent_name: "writer", error: { type: "INTERNAL", retryable: true } },
      _meta: { "switchboard/idempotencyKey": expect.stringMatching(/^\S{16,}$/) },
    },
  });
  expect(JSON.stringify(body)).not.toContain("secret reason");
});

test("a function that has no concurrency left is a result to try again, not an unexpected error", async () => {
  const { lambda } = await import("../../functions/_runtime/clients.ts");
  const throttled = Object.assign(new Error("Rate Exceeded."), { name: "TooManyRequestsException" });
  lambda.middlewareStack.add(() => () => Promise.reject(throttled), { step: "initialize", name: "throttled" });
  const { body } = await call("call_agent", {}).finally(() => lambda.middlewareStack.remove("throttled"));
  expect(body).toMatchObject({
    result: {
      isError: true,
      structuredContent: { code: 503, error: { type: "UNAVAILABLE", retryable: true } },
      _meta: { "switchboard/idempotencyKey": expect.any(String), "switchboard/retryAfter": "2" },
    },
  });
});

test("a failure that isn't in the output schema is told as text only: clients hold structured content against it", async () => {
  const error = { type: "FILE_NOT_FOUND", message: "No such file.", hint: "Use search_code.", retryable: false };
  json(404, { error });
  const { body } = await call("list_agents");
  const { result } = body as { result: { content: { text: string }[] } };
  expect(result).toMatchObject({
    isError: true,
    content: [{ text: "FILE_NOT_FOUND: No such file. Use search_code." }, {}],
  });
  expect(result).not.toHaveProperty("structuredContent");
});

test("an answer that is too long to stand there twice says in its text where to read it", async () => {
  const content = '"\\\n'.repeat(500_000);
  json(200, { ...agents, next_cursor: content });
  const { status, body } = await call("list_agents");
  expect(status).toBe(200);
  expect(body).toMatchObject({
    result: {
      structuredContent: { next_cursor: content },
      content: [{ text: expect.stringContaining("read structuredContent") }],
    },
  });
});

test("the worker lists and connects without any tool's function", async () => {
  const seen = events.length;
  expect(await post(url, message("tools/list"), { key })).toMatchObject({ status: 200 });
  expect(events).toHaveLength(seen);
});

test("what waits for approval and has not the tool's shape is no result that a client would hold against the schema", async () => {
  const error = { type: "APPROVAL_REQUIRED", message: "A person must approve this first.", hint: "Wait." };
  json(202, { error });
  const { body } = await call("register_agent", {});
  expect(body).toMatchObject({
    result: { isError: true, content: [{ text: expect.stringContaining("approve") }, {}] },
  });
  expect((body as { result: object }).result).not.toHaveProperty("structuredContent");
});
