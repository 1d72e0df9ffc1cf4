import { afterAll, afterEach, describe, expect, test } from "vitest";
import { parseEvent, readWait } from "../../functions/_runtime/request.ts";
import { contracts } from "../../functions/tools.ts";
import { startTestSystem } from "../system.ts";
import { gatewayEvent, run } from "./wire.ts";

/* How a request is read, and what an answer carries beside its body. */

const system = await startTestSystem();
afterAll(() => system.stop());
const { tool } = system;
const { dynamodb } = await import("../../functions/_runtime/clients.ts");
for (const agent_name of ["writer", "coder"]) await tool("register_agent", { agent_name, role: "member" });

const authorization = `Bearer ${system.key}`;
const handlerOf = (name: string) => system.functions.tools.get(name);

describe("a body", () => {
  const input = { user_name: "alice", project_name: "官网", description: "中 é 😀", files: [{ name: "a" }] };
  const json = JSON.stringify(input);
  const register = (event: object) =>
    run(handlerOf("register_project"), { ...gatewayEvent({ headers: { authorization } }), ...event });

  test("in base64 is the same as the plain one, with and without a content type", async () => {
    await register({ body: json });
    const plain = await register({ body: json, isBase64Encoded: false });
    expect(plain).toMatchObject({ status: 200, body: { ...input, created: false } });
    const encoded = { body: Buffer.from(json).toString("base64"), isBase64Encoded: true };
    for (const type of [
      undefined,
      "application/json",
      "application/x-www-form-urlencoded",
      "application/octet-stream",
    ]) {
      const headers = { authorization, ...(type && { "content-type": type }) };
      expect((await register({ ...encoded, headers })).body).toEqual(plain.body);
    }
  });

  test("sent by curl's default, as a form, is the same", async () => {
    const headers = { authorization, "content-type": "application/x-www-form-urlencoded" };
    const response = await fetch(`${system.url}/v1/tools/register_project`, { method: "POST", headers, body: json });
    expect(await response.json()).toMatchObject(input);
  });

  test("is decoded once: base64 inside base64 is no JSON", async () => {
    const twice = Buffer.from(Buffer.from(json).toString("base64")).toString("base64");
    const answer = await register({ body: twice, isBase64Encoded: true });
    expect(answer).toMatchObject({ status: 400, body: { error: { type: "INVALID_JSON" } } });
  });

  test("may begin with a byte order mark, as some clients write it", async () => {
    expect((await register({ body: `\ufeff${json}` })).status).toBe(200);
    const encoded = Buffer.from(`\ufeff${json}`).toString("base64");
    expect((await register({ body: encoded, isBase64Encoded: true })).status).toBe(200);
  });

  test("is measured in bytes, decoded: 512 KiB are read and one byte more is not", async () => {
    const ofBytes = (bytes: number) =>
      `{"user_name":"alice","project_name":"p","description":"${"a".repeat(bytes - 57)}"}`;
    const [most, more] = [ofBytes(512 * 1024), ofBytes(512 * 1024 + 1)];
    expect(Buffer.byteLength(most)).toBe(512 * 1024);
    for (const isBase64Encoded of [false, true]) {
      const send = (body: string) =>
        register({ body: isBase64Encoded ? Buffer.from(body).toString("base64") : body, isBase64Encoded });
      expect((await send(most)).body.error).toMatchObject({ type: "CONTENT_TOO_LARGE" });
      expect(await send(more)).toMatchObject({ status: 413, body: { error: { type: "REQUEST_TOO_LARGE" } } });
    }
  });
});

describe("headers", () => {
  test.each([
    { Authorization: authorization },
    { AUTHORIZATION: authorization },
    { authorization: authorization.replace("Bearer", "bearer") },
    { authorization: authorization.replace("Bearer ", "BEARER   ") },
  ])("are found in whatever case they come: %j", async (headers) => {
    const answer = await run(handlerOf("list_agents"), gatewayEvent({ headers: headers as Record<string, string> }));
    expect(answer.status).toBe(200);
  });

  test("of every answer say that it is JSON, is not to be stored, and which request it answers", async () => {
    for (const { name } of contracts) {
      const answer = await run(
        handlerOf(name),
        gatewayEvent({ body: "{", headers: { authorization }, requestId: "r-1" }),
      );
      expect(answer.headers).toMatchObject({
        "content-type": "application/json; charset=utf-8",
        "cache-control": "no-store",
        "x-request-id": "r-1",
      });
    }
  });
});

describe("Prefer", () => {
  const at = Date.parse("2027-01-01T00:00:00Z");
  const waitOf = (prefer: string | undefined, defaultS = 20, tookMs = 0) => {
    const headers = prefer === undefined ? {} : { Prefer: prefer };
    const { until, applied } = readWait(parseEvent(gatewayEvent({ headers, timeEpoch: at })), defaultS, at + tookMs);
    return { seconds: until === 0 ? 0 : (until - at) / 1000, applied };
  };

  test.each([
    [undefined, 20, undefined],
    ["wait=5", 5, "wait=5"],
    ["WAIT = 5", 5, "wait=5"],
    ['wait="5"', 5, "wait=5"],
    ["wait=0", 0, "wait=0"],
    ["wait=25", 25, "wait=25"],
    ["wait=26", 25, "wait=25"],
    ["wait=99999999999999999999", 25, "wait=25"],
    ["wait=5; strict=1", 5, "wait=5"],
    ["respond-async", 0, "respond-async"],
    ["Respond-Async", 0, "respond-async"],
    ["respond-async, wait=3", 3, "wait=3"],
    ["wait=3,respond-async", 3, "wait=3"],
    ["handling=lenient, wait=4, return=minimal", 4, "wait=4"],
    ["wait=2, wait=9", 2, "wait=2"],
    ["wait=-1", 20, undefined],
    ["wait=1.5", 20, undefined],
    ["wait=1e3", 20, undefined],
    ["wait=soon", 20, undefined],
    ['note="a, wait=0"', 20, undefined],
    ["await=5", 20, undefined],
    ["wait", 20, undefined],
    ["", 20, undefined],
    [",,;=", 20, undefined],
  ])("'%s' makes a call wait for %d s and is answered with '%s'", (prefer, seconds, applied) => {
    expect(waitOf(prefer)).toEqual({ seconds, applied });
  });

  test("counts from the gateway's own request time, whatever the function has waited for before", () => {
    expect(waitOf("wait=25", 20, 4_000)).toEqual({ seconds: 25, applied: "wait=25" });
    expect(waitOf(undefined, 20, 4_000).seconds).toBe(20);
    // A clock that runs behind the gateway's does not make it longer.
    expect(waitOf("wait=25", 20, -4_000).seconds).toBe(21);
  });

  test("is answered by the tools that can wait, and by no other", async () => {
    const input = { session_id: "s", user_name: "alice", sender: "writer", receiver: "coder", content: "Hello" };
    const applied = async (name: string, body: object, prefer: string) =>
      (await tool(name, body, { headers: { prefer } })).headers.get("preference-applied");
    expect(await applied("call_agent", input, "respond-async")).toBe("respond-async");
    expect(await applied("receive_messages", { agent_name: "coder" }, "wait=99")).toBe("wait=25");
    expect(await applied("call_agent", { ...input, receiver: "nobody" }, "wait=99")).toBe("wait=25");
    for (const { name, defaultWaitS, examples } of contracts) {
      if (defaultWaitS === undefined) expect(await applied(name, examples[0]?.input ?? {}, "wait=9")).toBeNull();
    }
  });
});

describe("the stage", () => {
  const catalog = (rawPath: string, stage: string) =>
    run(system.functions.catalog, gatewayEvent({ method: "GET", rawPath, stage, headers: { authorization } }));

  test("in the path changes nothing: $default, a named stage and a custom domain answer alike", async () => {
    for (const path of ["/v1/tools", "/v1/tools/call_agent", "/healthz", "/v1/tools/nothing"]) {
      const { status, body } = await catalog(path, "$default");
      expect(await catalog(`/prod${path}`, "prod")).toMatchObject({ status, body });
      expect(await catalog(path, "prod")).toMatchObject({ status, body });
    }
    expect((await catalog("/prod/v1/tools", "$default")).status).toBe(404);
  });

  test("does not matter to a tool, which is found by its route", async () => {
    const event = gatewayEvent({ rawPath: "/prod/v1/tools/list_agents", stage: "prod", headers: { authorization } });
    expect((await run(handlerOf("list_agents"), event)).status).toBe(200);
  });
});

describe("a method that a path does not have", () => {
  test.each([
    ["PUT", "/v1/tools/call_agent", "GET, POST"],
    ["POST", "/v1/tools", "GET"],
  ])("%s %s gets 405 and the ones it has in Allow", async (method, path, allow) => {
    const response = await fetch(system.url + path, { method, headers: { authorization } });
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe(allow);
  });
});

describe("a failure that nobody expected", () => {
  const failing = (error: Error) =>
    dynamodb.middlewareStack.add(() => () => Promise.reject(error), { name: "failing", step: "initialize" });
  afterEach(() => dynamodb.middlewareStack.remove("failing"));
  const ask = () => run(handlerOf("list_agents"), gatewayEvent({ headers: { authorization }, requestId: "request-7" }));

  test("is a neutral 500 with the request's id, and nothing of what went wrong", async () => {
    failing(new TypeError("secret detail at /var/task/index.js:1"));
    const answer = await ask();
    expect(answer.status).toBe(500);
    expect(answer.body).toMatchObject({
      code: 500,
      agents: [],
      error: { type: "INTERNAL", retryable: true, message: "Unexpected error; request id request-7." },
    });
    expect(JSON.stringify(answer)).not.toContain("secret");
  });

  test.each([
    "ThrottlingException",
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "TransactionInProgressException",
    "TransactionCanceledException",
    "InternalServerError",
    "ServiceUnavailableException",
    "TimeoutError",
  ])("is 503 with Retry-After when the table answers %s", async (name) => {
    failing(Object.assign(new Error("secret detail"), { name }));
    const answer = await ask();
    expect(answer).toMatchObject({ status: 503, headers: { "retry-after": "2" } });
    expect(answer.body).toMatchObject({ code: 503, error: { type: "UNAVAILABLE", retryable: true } });
  });
});
