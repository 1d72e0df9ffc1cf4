import { createHash } from "node:crypto";
import { afterAll, describe, expect, test, vi } from "vitest";
import type { Contract } from "../../functions/_runtime/contract.ts";
import { contracts, permissions } from "../../functions/tools.ts";
import { moveClock } from "../clock.ts";
import { startTestSystem } from "../system.ts";
import { tableItems } from "../table_items.ts";
import { expectRefusal, expectWellFormed, gatewayEvent, messageOf, run } from "./wire.ts";

/* Who may do what: `serve` and `auth`, with events as the gateway makes them. */

// Lines of the log go to the global console then, where this file can read them.
const system = await startTestSystem({ POWERTOOLS_LOG_LEVEL: "INFO", POWERTOOLS_DEV: "true" });
afterAll(() => system.stop());
const lines: string[] = [];
for (const level of ["info", "warn", "error"] as const)
  vi.spyOn(console, level).mockImplementation((line) => void lines.push(String(line)));
const { createKey, tool } = system;
for (const agent_name of ["writer", "coder"]) await tool("register_agent", { agent_name, role: "member" });

const handlerOf = (name: string) => system.functions.tools.get(name);
const invoke = (name: string, input: unknown, headers: Record<string, string>, more: object = {}) =>
  run(handlerOf(name), { ...gatewayEvent({ body: JSON.stringify(input), headers }), ...more });
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

const read = { agent_name: "writer", user_name: "alice" };
const status = (headers: Record<string, string>, more?: object) => invoke("get_agent_status", read, headers, more);

describe("without a key that is in force", () => {
  test("every tool answers 401 in its own shape, says which scheme it wants, and reads no input", async () => {
    for (const contract of contracts as readonly Contract[]) {
      const answer = await invoke(contract.name, contract.examples[0]?.input, {});
      expectRefusal(contract, answer, contract.name);
      expect(answer).toMatchObject({ status: 401, headers: { "www-authenticate": expect.stringMatching(/^Bearer/) } });
      expect(await run(handlerOf(contract.name), gatewayEvent({ body: "{" }))).toMatchObject({ status: 401 });
    }
  });

  test("all reasons look alike", async () => {
    const [, , id, secret] = (await createKey()).split("_");
    const [revoked, expired] = [await createKey({ id: "gone" }), await createKey({ expires_at: Date.now() - 1 })];
    const { revokeApiKey } = await import("../../functions/_table/api_keys.ts");
    await revokeApiKey("local", "gone", Date.now());
    const hash = createHash("sha256").update(String(secret)).digest("hex");
    const tokens = {
      "another secret": `sb_local_${id}_${"0".repeat(64)}`,
      "the secret's hash": `sb_local_${id}_${hash}`,
      "part of the secret": `sb_local_${id}_${secret?.slice(0, 32)}`,
      "more than the secret": `sb_local_${id}_${secret}0`,
      "another workspace": `sb_other_${id}_${secret}`,
      "an unknown key": `sb_local_nobody_${secret}`,
      "a revoked key": revoked,
      "an expired key": expired,
      "no parts": "sb",
      "more parts": `sb_local_x_${id}_${secret}`,
      "empty parts": `sb__${id}_${secret}`,
      "upper case": `SB_LOCAL_${id}_${secret}`,
      "a key of the table": `sb_local#KEY_${id}_${secret}`,
      "percent signs": `sb%5Flocal%5F${id}%5F${secret}`,
      "inherited names": `sb_constructor_prototype_${secret}`,
      "a long one": `sb_local_${"a".repeat(3_000)}_${secret}`,
    };
    const answers = await Promise.all(Object.values(tokens).map((token) => status(bearer(token))));
    const alike = { status: 401, body: answers[0]?.body };
    for (const [index, what] of Object.keys(tokens).entries()) expect(answers[index], what).toMatchObject(alike);
    expect((await status(bearer(`sb_local_${id}_${secret}`))).status).toBe(200);
  });

  test.each(["", "Bearer", "Bearer ", "Basic KEY", "KEY", "Bearer KEY KEY", "Bearer KEY,Bearer KEY", "Bearer=KEY"])(
    "the header '%s' carries none",
    async (header) => {
      const answer = await status({ authorization: header.replaceAll("KEY", system.key) });
      expect(answer).toMatchObject({ status: 401, body: { msg: "The request carries no API key." } });
    },
  );

  test("nothing else names who calls: no field of the event, no other header, no cookie", async () => {
    const principal = { workspace: "local", keyId: "k", actor: "root", scopes: permissions, agents: ["*"] };
    const authorizer = { lambda: principal, jwt: { claims: principal, scopes: permissions }, iam: { userArn: "arn" } };
    const requestContext = { ...gatewayEvent().requestContext, authorizer, identity: principal };
    for (const more of [
      { principal },
      { requestContext },
      { identity: principal, authorizer },
      { cookies: [system.key] },
    ])
      expect((await status({ "x-api-key": system.key, "x-agent-id": "writer" }, more)).status).toBe(401);

    const narrow = bearer(await createKey({ scopes: ["agent:call"], agents: ["coder"] }));
    expect((await status(narrow, { principal, requestContext })).status).toBe(403);
  });
});

describe("a key", () => {
  test("may use a tool only with each of its permissions, and is told which one it lacks", async () => {
    for (const contract of contracts as readonly Contract[]) {
      const held = permissions.filter((permission) => !contract.permissions.includes(permission));
      const headers = bearer(await createKey({ scopes: held }));
      const answer = await invoke(contract.name, contract.examples[0]?.input, headers);
      expectRefusal(contract, answer, contract.name);
      const details = { missing: contract.permissions };
      expect(answer).toMatchObject({ status: 403, body: { error: { type: "PERMISSION_DENIED", details } } });
      for (const missing of contract.permissions) expect(messageOf(answer)).toContain(missing);
    }
  });

  test("speaks for its own agents only, and is refused alike whether or not the other exists", async () => {
    const headers = bearer(await createKey({ agents: ["writer"] }));
    const before = await tableItems();
    const speaking = (contracts as readonly Contract[]).filter(({ speaker }) => speaker !== undefined);
    expect(speaking.length).toBeGreaterThan(5);
    for (const contract of speaking) {
      const { name, speaker = "", examples } = contract;
      const as = (agent: string) => invoke(name, { ...examples[0]?.input, [speaker]: agent }, headers);
      const [there, notThere] = [await as("coder"), await as("nobody")];
      for (const answer of [there, notThere]) expectRefusal(contract, answer, name);
      expect(there.body.error).toMatchObject({ type: "IDENTITY_MISMATCH", details: { may_speak_for: ["writer"] } });
      expect(notThere.body).toEqual(JSON.parse(JSON.stringify(there.body).replaceAll('"coder"', '"nobody"')));
      for (const agent of ["*", "writer ", "writer#", "wr", ""]) expect((await as(agent)).status).toBe(403);
    }
    expect(await tableItems()).toEqual(before);
  });

  test("speaks for its agent in whatever case the name is written", async () => {
    const headers = bearer(await createKey({ agents: ["Writer"] }));
    expect((await invoke("receive_messages", { agent_name: "WRITER" }, headers)).status).toBe(200);
    expect((await invoke("receive_messages", { agent_name: "coder" }, headers)).status).toBe(403);
  });

  test("of another workspace meets nothing of this one", async () => {
    const headers = bearer(await createKey({ workspace: "other" }));
    expect(await status(headers)).toMatchObject({ status: 404, body: { error: { details: { near_matches: [] } } } });
    expect((await invoke("list_agents", {}, headers)).body.agents).toEqual([]);
  });

  test("stops with its revocation, and works under a new secret after a rotation", async () => {
    const { revokeApiKey, rotateApiKey } = await import("../../functions/_table/api_keys.ts");
    const token = await createKey({ id: "turned" });
    expect((await status(bearer(token))).status).toBe(200);
    await rotateApiKey("local", "turned", "ab".repeat(32), Date.now());
    expect((await status(bearer(token))).status).toBe(401);
    expect((await status(bearer(`sb_local_turned_${"ab".repeat(32)}`))).status).toBe(200);
    await revokeApiKey("local", "turned", Date.now());
    expect((await status(bearer(`sb_local_turned_${"ab".repeat(32)}`))).status).toBe(401);
  });

  test("with a rate gets 429 with Retry-After once it is used up, and works again in the next minute", async () => {
    const headers = bearer(await createKey({ rate_per_minute: 2 }));
    moveClock(60_000 - (Date.now() % 60_000) + 10_000);
    expect([(await status(headers)).status, (await status(headers)).status]).toEqual([200, 200]);
    const answer = await status(headers);
    expect(answer).toMatchObject({
      status: 429,
      body: { error: { type: "RATE_LIMITED", retryable: true, hint: expect.stringMatching(/\S/) } },
    });
    expect(Number(answer.headers["retry-after"])).toSatisfy((seconds) => seconds > 40 && seconds <= 50);
    expect((await status(bearer(system.key))).status).toBe(200);
    moveClock(60_000);
    expect((await status(headers)).status).toBe(200);
  });
});

describe("a warm process", () => {
  test("keeps nothing of one caller for the next: neither who it was, nor what the log says of it", async () => {
    const [first, second] = [await createKey({ id: "first" }), await createKey({ id: "second", workspace: "other" })];
    lines.length = 0;
    const answers = await Promise.all(
      [first, "", second, "", first].map((token) => status(token ? bearer(token) : {})),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 401, 404, 401, 200]);

    lines.length = 0;
    await invoke("get_call", { call_id: "call_secret", agent_name: "writer" }, bearer(first));
    expect(lines.join("\n")).toContain("first");
    lines.length = 0;
    await status({});
    await status(bearer(second));
    const logged = lines.join("\n");
    expect(logged).toContain("second");
    expect(logged).not.toMatch(/first|call_secret|"workspace": ?"local"/);
  });

  test("answers each request with its own id, in the header and in the log, also when it is refused", async () => {
    lines.length = 0;
    const requestId = "request-id-1=";
    const event = (headers: Record<string, string>) => gatewayEvent({ body: JSON.stringify(read), headers, requestId });
    for (const headers of [bearer(system.key), {}, bearer("wrong")])
      expect((await run(handlerOf("get_agent_status"), event(headers))).headers["x-request-id"]).toBe(requestId);
    expect(lines.filter((line) => line.includes(requestId))).toHaveLength(2);
  });

  test("never logs a key, nor what agents say", async () => {
    lines.length = 0;
    const input = { session_id: "s", user_name: "alice", sender: "writer", receiver: "coder", content: "confidential" };
    expectWellFormed(
      contracts[1],
      await invoke("call_agent", input, { ...bearer(system.key), prefer: "respond-async" }),
      "call",
    );
    await invoke("call_agent", { ...input, receiver: "nobody" }, bearer(system.key));
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.join("\n")).not.toMatch(new RegExp(`confidential|${system.key.split("_")[3]}`));
  });
});
