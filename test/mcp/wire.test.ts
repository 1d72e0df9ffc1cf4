import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { startTestSystem } from "../system.ts";
import { message, modern, post, toolCall } from "./post.ts";

/* What is said by HTTP: refusals before a tool is reached, and what the protocol's own clients never send. */

const allowed = "https://app.example.com";
const system = await startTestSystem({ ALLOWED_ORIGINS: `${allowed},https://other.example.com` });
afterAll(() => system.stop());
const { url, key } = system;

const initialize = message("initialize", {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "test", version: "1" },
});
const list = message("tools/list");
const status = toolCall("get_agent_status", { agent_name: "writer", user_name: "alice" });

const refused = (httpStatus: number, code: number, more: object = {}) => ({
  status: httpStatus,
  body: { jsonrpc: "2.0", error: { code, message: expect.stringMatching(/\S/), ...more } },
});

describe("a key", () => {
  test.each([
    ["initialize", initialize],
    ["tools/list", list],
    ["server/discover", modern("server/discover").message],
    ["a call", status],
    ["a call of no tool", toolCall("nothing")],
    ["a message of no method", message("nothing")],
  ])("is asked for by %s, with 401, the scheme and a hint", async (_, request) => {
    for (const wrong of ["", "sb_local_nobody_0123456789abcdef0123456789abcdef", "x"]) {
      const answer = await post(url, request, { key: wrong });
      const data = { type: "UNAUTHENTICATED", hint: expect.stringContaining("Bearer sb_") };
      expect(answer).toMatchObject(refused(401, -32000, { data }));
      // Without a key, nothing of the body is read.
      expect(answer).toMatchObject({ body: { id: wrong === "" ? null : 1 } });
      expect(answer.headers.get("www-authenticate")).toMatch(/^Bearer/);
    }
  });

  test("that is revoked stops at once, for lists and calls", async () => {
    const revoked = await system.createKey({ id: "soonrevoked" });
    expect(await post(url, list, { key: revoked })).toMatchObject({ status: 200 });
    const { revokeApiKey } = await import("../../functions/_table/api_keys.ts");
    await revokeApiKey("local", "soonrevoked", Date.now());
    for (const request of [list, status])
      expect(await post(url, request, { key: revoked })).toMatchObject({ status: 401 });
  });

  test("with a rate is counted once for each request, and not for notifications", async () => {
    const limited = await system.createKey({ rate_per_minute: 3 });
    const note = { jsonrpc: "2.0", method: "notifications/initialized" };
    for (const request of [initialize, note, list, status])
      expect((await post(url, request, { key: limited })).status).toBeOneOf([200, 202]);
    const listing = await post(url, list, { key: limited });
    expect(listing).toMatchObject(refused(429, -32000, { data: { type: "RATE_LIMITED", retryable: true } }));
    expect(Number(listing.headers.get("retry-after"))).toBeGreaterThan(0);
    const call = await post(url, status, { key: limited });
    expect(call).toMatchObject({
      status: 200,
      body: {
        result: {
          isError: true,
          structuredContent: { error: { type: "RATE_LIMITED" } },
          _meta: { "switchboard/retryAfter": expect.stringMatching(/^\d+$/) },
        },
      },
    });
  });
});

describe("a method or header that is not of this transport", () => {
  test.each(["GET", "DELETE", "PUT"])("%s gets 405 and the method to use", async (method) => {
    const answer = await post(url, {}, { method, key });
    expect(answer).toMatchObject({ status: 405, body: { error: { type: "METHOD_NOT_ALLOWED" } } });
    expect(answer.headers.get("allow")).toBe("POST");
  });

  test("a client that takes no JSON gets 406; one that takes only JSON, or anything, is answered", async () => {
    for (const accept of ["text/html", "text/event-stream", "image/*"])
      expect(await post(url, list, { key, headers: { accept } })).toMatchObject(refused(406, -32000));
    for (const accept of ["application/json", "*/*", "text/event-stream;q=0.5, Application/JSON;q=0.9"]) {
      const answer = await post(url, list, { key, headers: { accept } });
      expect(answer).toMatchObject({ status: 200, body: { result: { tools: expect.any(Array) } } });
      expect(answer.headers.get("content-type")).toMatch(/^application\/json/);
    }
  });

  test("a body that is not called JSON gets 415", async () => {
    for (const type of ["text/plain", "application/x-www-form-urlencoded"])
      expect(await post(url, list, { key, headers: { "content-type": type } })).toMatchObject(refused(415, -32000));
  });

  test("a page may call from the origins that the operator has named, and from no other", async () => {
    expect(await post(url, list, { key, headers: { origin: allowed } })).toMatchObject({ status: 200 });
    for (const origin of ["https://evil.example.com", "null", `${allowed}.evil.com`]) {
      const data = { type: "ORIGIN_NOT_ALLOWED", hint: expect.stringContaining("corsOrigins") };
      expect(await post(url, list, { key, headers: { origin } })).toMatchObject(refused(403, -32000, { data }));
    }
  });
});

describe("a revision", () => {
  test("that is not served is refused with those that are", async () => {
    const { message: asked, headers } = modern("tools/list", {}, "2099-01-01");
    const data = { supported: ["2026-07-28"], requested: "2099-01-01" };
    expect(await post(url, asked, { key, headers })).toMatchObject(refused(400, -32022, { data }));
    const answer = await post(url, list, { key, headers: { "mcp-protocol-version": "1999-01-01" } });
    expect(answer).toMatchObject(refused(400, -32000, { message: expect.stringContaining("2025-11-25") }));
  });

  test("that a client of 2025 asks for and that is not served is answered with 2025-11-25", async () => {
    const older = message("initialize", { ...initialize.params, protocolVersion: "2020-01-01" });
    expect(await post(url, older, { key })).toMatchObject({ body: { result: { protocolVersion: "2025-11-25" } } });
  });

  test("has no subscriptions: they would be streams", async () => {
    const { message: listen, headers } = modern("subscriptions/listen", { notifications: { toolsListChanged: true } });
    expect(await post(url, listen, { key, headers })).toMatchObject(refused(200, -32603));
  });
});

describe("a body", () => {
  test("that is no message gets a JSON-RPC error that says what to send", async () => {
    expect(await post(url, "{", { key })).toMatchObject(refused(400, -32700, { data: { type: "INVALID_JSON" } }));
    for (const body of ["", "null", "1", '"x"', "[]"])
      expect(await post(url, body, { key }), body).toMatchObject(
        refused(400, -32600, { data: { hint: expect.stringMatching(/\S/) } }),
      );
  });

  test("with several messages is refused, and nothing of it is done", async () => {
    const register = toolCall("register_agent", { agent_name: "batched", role: "member" });
    const data = { hint: expect.stringContaining("of its own") };
    expect(await post(url, [register, list], { key })).toMatchObject(refused(400, -32600, { data }));
    expect(await system.tool("get_agent_status", { agent_name: "batched", user_name: "a" })).toMatchObject({
      status: 404,
    });
  });

  test("over the limit gets 413", async () => {
    const huge = toolCall("call_agent", { content: "x".repeat(600_000) });
    expect(await post(url, huge, { key })).toMatchObject(refused(413, -32600, { data: { type: "REQUEST_TOO_LARGE" } }));
  });

  test("that wants no answer gets 202 and none", async () => {
    for (const note of ["notifications/initialized", "notifications/cancelled", "notifications/nothing"]) {
      const params = note.endsWith("cancelled") ? { requestId: 1 } : undefined;
      const answer = await post(url, { jsonrpc: "2.0", method: note, ...(params && { params }) }, { key });
      expect([note, answer.status, answer.body]).toEqual([note, 202, undefined]);
    }
  });

  test("with a method that isn't served gets method not found", async () => {
    for (const method of ["resources/list", "prompts/list", "nothing", "__proto__"])
      expect(await post(url, message(method), { key }), method).toMatchObject({ body: { error: { code: -32601 } } });
    expect(await post(url, message("ping"), { key })).toMatchObject({ status: 200, body: { result: {} } });
  });

  test("with a call that names no tool gets invalid params; the nearest is suggested", async () => {
    for (const params of [undefined, {}, { name: 1 }, { name: "" }, { name: "__proto__" }, { name: "call_agents" }])
      expect(await post(url, message("tools/call", params), { key })).toMatchObject({
        body: { error: { code: -32602 } },
      });
    const { body } = await post(url, toolCall("call_agents"), { key });
    expect(body).toMatchObject({ error: { message: expect.stringContaining("Did you mean call_agent?") } });
  });

  test("of any kind is answered with no server error", async () => {
    const methods = fc.constantFrom("tools/call", "tools/list", "initialize", "server/discover", "ping");
    const messages = fc.record(
      {
        jsonrpc: fc.oneof(fc.constant("2.0"), fc.jsonValue()),
        id: fc.oneof(fc.integer(), fc.jsonValue()),
        method: fc.oneof(methods, fc.jsonValue()),
        params: fc.oneof(
          fc.record({
            name: fc.constantFrom("list_agents", "get_call", 1),
            arguments: fc.jsonValue(),
            _meta: fc.jsonValue(),
          }),
          fc.jsonValue(),
        ),
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(fc.oneof(messages, fc.jsonValue()), async (sent) => {
        const answer = await post(url, JSON.stringify(sent), { key });
        expect(answer.status, JSON.stringify(sent)).toBeLessThan(500);
        expect(JSON.stringify(answer.body) ?? "", JSON.stringify(sent)).not.toMatch(/node_modules|\.m?[jt]s:\d/);
      }),
      { numRuns: 150 },
    );
  });
});

test("titles and descriptions are in the language of the address, and one that isn't there is named", async () => {
  const { body } = await post(url, list, { key, query: "?lang=zh-CN" });
  expect(JSON.stringify(body)).toMatch(/呼叫|智能体|任务/);
  expect(await post(url, list, { key, query: "?lang=fr" })).toMatchObject({
    status: 400,
    body: { error: { data: { hint: expect.stringContaining("zh-CN") } } },
  });
});

describe("arguments that JSON can say and no tool can take", () => {
  const raw = (name: string, args: string) =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${args}}}`;
  const deep = (depth: number) => "[".repeat(depth) + "]".repeat(depth);

  test.each([
    ["a number beyond all numbers", '{"limit":1e400}', "limit"],
    ["nesting without end", `{"skill":${deep(100_000)}}`, "nested"],
    ["nesting without end in place of all", deep(200_000), "nested"],
  ])("(%s) are refused by name, as over HTTP, and never read as left out", async (_, args, named) => {
    const { status: httpStatus, body } = await post(url, raw("list_agents", args), { key });
    expect(httpStatus).toBe(200);
    expect(body).toMatchObject({ result: { isError: true, structuredContent: { error: { type: "INVALID_INPUT" } } } });
    expect(JSON.stringify(body)).toContain(named);
  });
});
