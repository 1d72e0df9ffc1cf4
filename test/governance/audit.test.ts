import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import type { NewApiKey } from "../../functions/_table/api_keys.ts";
import type { AuditEvent } from "../../functions/_table/audit_events.ts";
import { acts, unique } from "../acts.ts";
import { intercept, throttled } from "../delivery/intercept.ts";
import { startTestSystem } from "../system.ts";
import { tableItems } from "../table_items.ts";

/* One event for each invocation of a tool, refused ones included; what was said is in none of them. */

// To the console, so that a test can read what is logged.
const system = await startTestSystem({ POWERTOOLS_LOG_LEVEL: "ERROR", POWERTOOLS_DEV: "true" });
afterAll(() => system.stop());
const { register, call } = acts(system.tool);

const auditor = await system.createKey({ actor: "auditor@example.com", scopes: ["audit:read"] });
type Query = Record<string, unknown>;
const page = async (query: Query = {}) => (await system.tool("list_audit_events", query, { key: auditor })).body;

/** Every event that a query finds, over all pages. */
async function events(query: Query = {}) {
  const found: Awaited<ReturnType<typeof page>>["events"] = [];
  for (let cursor = ""; ; ) {
    const { code, events, next_cursor } = await page({ limit: 100, ...query, cursor });
    expect(code).toBe(0);
    found.push(...events);
    if (next_cursor === "") return found;
    cursor = next_cursor;
  }
}

let lead = "";
let writer = "";
beforeAll(async () => {
  lead = await register("lead", { role: "director" });
  writer = await register("writer");
});

test("an event says who did what, as whom, and what came of it", async () => {
  const key = await system.createKey({ id: "k1", actor: "ann@example.com" });
  const { headers } = await system.tool(
    "call_agent",
    { session_id: "s-1", user_name: "alice", sender: lead, receiver: writer, content: "Hello." },
    { key, headers: { prefer: "respond-async" } },
  );
  const [event] = await events({ tool: "call_agent" });
  expect(event).toMatchObject({
    request_id: headers.get("x-request-id"),
    key_id: "k1",
    actor: "ann@example.com",
    agent_name: lead,
    tool: "call_agent",
    tool_version: "1.0.0",
    risk_level: "medium",
    outcome: "pending",
    error_type: "",
    http_status: 202,
    via: "http",
    approval_id: "",
    schedule_id: "",
  });
  expect(event?.input_digest).toMatch(/^[0-9a-f]{64}$/);
});

test("equal inputs of one key have one digest, and other inputs or keys have others", async () => {
  const [one, other] = [await system.createKey({ id: "d1" }), await system.createKey({ id: "d2" })];
  const ask = (key: string, agent_name: string) =>
    system.tool("get_agent_status", { agent_name, user_name: "alice" }, { key });
  for (const [key, agent] of [
    [one, lead],
    [one, lead],
    [one, writer],
    [other, lead],
  ] as const)
    await ask(key, agent);
  const found = (await events({ tool: "get_agent_status" })).reverse().map(({ input_digest }) => input_digest);
  expect(found).toHaveLength(4);
  expect(found[0]).toBe(found[1]);
  expect(new Set(found).size).toBe(3);
});

describe("a refused invocation is audited", () => {
  const words = "secret words";
  const refusals: [type: string, tool: string, input: Record<string, unknown>, grants: Partial<NewApiKey>][] = [
    ["INVALID_INPUT", "call_agent", { content: words }, {}],
    ["IDENTITY_MISMATCH", "reply_call", { call_id: "call_x", sender: "human", content: words }, { agents: ["nobody"] }],
    ["PERMISSION_DENIED", "list_agents", {}, { scopes: ["agent:call"] }],
    ["AGENT_NOT_FOUND", "get_agent_status", { agent_name: "ghost", user_name: "alice" }, {}],
  ];
  test.each(refusals)("%s", async (type, tool, input, grants) => {
    const id = type.toLowerCase().replaceAll("_", "");
    const key = await system.createKey({ id, ...grants });
    expect((await system.tool(tool, input, { key })).body.error).toMatchObject({ type });
    const found = (await events({ outcome: "refused", tool })).filter(({ key_id }) => key_id === id);
    expect(found).toMatchObject([{ error_type: type, agent_name: "" }]);
  });

  test("a known key with a wrong secret, or a revoked one", async () => {
    const { parseToken, revokeApiKey } = await import("../../functions/_table/api_keys.ts");
    const wrong = (await system.createKey({ id: "wrongsecret" })).replace(/.$/, (last) => (last === "0" ? "1" : "0"));
    const revoked = await system.createKey({ id: "revoked" });
    await revokeApiKey("local", parseToken(revoked)?.id ?? "", Date.now());
    for (const key of [wrong, revoked]) expect((await system.tool("list_agents", {}, { key })).status).toBe(401);
    const found = (await events({ tool: "list_agents" })).filter(({ error_type }) => error_type === "UNAUTHENTICATED");
    expect(found.map(({ key_id }) => key_id).sort()).toEqual(["revoked", "wrongsecret"]);
  });

  test("but a key that nobody knows belongs to no workspace, so no trail grows by it", async () => {
    const before = (await tableItems({ audit: true })).size;
    expect((await system.tool("list_agents", {}, { key: `sb_local_nobody_${"0".repeat(64)}` })).status).toBe(401);
    expect((await system.tool("list_agents", {}, { key: "" })).status).toBe(401);
    expect((await tableItems({ audit: true })).size).toBe(before);
  });
});

const forged = (...parts: string[]) => parts.join("_");

test("an invocation that waits for approval names it", async () => {
  const { env } = await import("../../functions/_runtime/env.ts");
  env().APPROVAL_TOOLS.push("register_project");
  onTestFinished(() => void env().APPROVAL_TOOLS.pop());
  const { body } = await system.tool("register_project", { user_name: "alice", project_name: unique("p") });
  expect((await events({ outcome: "held" }))[0]?.approval_id).toBe(body.error?.details?.approval_id);
});

describe("list_audit_events", () => {
  test("1,000 mixed invocations make exactly 1,000 events, paged back without gaps or repeats, with no content or key in any", async () => {
    const token = await system.createKey({ id: "thousand", actor: "bulk" });
    const secret = token.split("_").at(-1) ?? "";
    const word = "geheimwort";
    const kinds = [
      () => system.tool("get_agent_status", { agent_name: lead, user_name: word }, { key: token }),
      () => system.tool("get_agent_status", { agent_name: word, user_name: word }, { key: token }),
      () => system.tool("register_project", { user_name: word, project_name: word }, { key: token }),
      () => system.tool("call_agent", { content: word, [word]: word }, { key: token }),
      () => system.tool("list_agents", { skill: word }, { key: token }),
    ];
    const ids: string[] = [];
    // As many at once as keep an event's write well within the time that it has, also on a busy machine.
    for (let from = 0; from < 1000; from += 10) {
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, index) => kinds[(from + index) % kinds.length]?.()),
      );
      ids.push(...answers.map((answer) => answer?.headers.get("x-request-id") ?? ""));
    }
    const found = (await events({ limit: 37 })).filter(({ key_id }) => key_id === "thousand");
    expect(found.map(({ request_id }) => request_id).sort()).toEqual([...ids].sort());
    expect(found.map(({ at }) => at)).toEqual(
      found
        .map(({ at }) => at)
        .sort()
        .reverse(),
    );
    const stored = [...(await tableItems({ audit: true }))].filter(([key]) => key.startsWith("AUDIT#"));
    const trail = JSON.stringify([found, stored.filter(([, item]) => item.key_id === "thousand")]);
    expect(trail).not.toContain(word);
    expect(trail).not.toContain(secret);
  }, 120_000);

  test("finds by agent, tool and outcome, and by time", async () => {
    const leader = await register("auditlead", { role: "director" });
    const before = new Date().toISOString();
    await call({ session_id: unique("s"), sender: leader, receiver: writer });
    await call({ session_id: unique("s"), sender: leader, receiver: leader });
    const mine = await events({ agent_name: leader.toUpperCase(), from: before });
    expect(mine.map(({ outcome, error_type }) => [outcome, error_type])).toEqual([
      ["refused", "SELF_CALL"],
      ["pending", ""],
    ]);
    expect(await events({ agent_name: leader, from: before, outcome: "refused" })).toHaveLength(1);
    expect(await events({ agent_name: leader, tool: "register_agent" })).toHaveLength(1);
    expect(await events({ agent_name: leader, to: before, tool: "call_agent" })).toEqual([]);
  });

  test("passes over empty hours, and goes on over as many as it takes", async () => {
    const { putAuditEvent } = await import("../../functions/_table/audit_events.ts");
    const [event] = await events({ tool: "register_agent" });
    const { agent_name: agent, ...rest } = event ?? expect.fail("There is no event.");
    const at = new Date(Date.now() - 20 * 86_400_000).toISOString();
    const old = { ...rest, agent, at, workspace: "local", tool: "reply_call", request_id: "old" } as AuditEvent;
    await putAuditEvent(old, AbortSignal.timeout(5_000));
    const from = new Date(Date.now() - 30 * 86_400_000).toISOString();
    expect((await page({ from, tool: "reply_call", agent_name: agent })).events).toEqual([]);
    expect(await events({ from, tool: "reply_call", agent_name: agent })).toMatchObject([{ request_id: "old", at }]);
  });

  test.each([
    [{ from: "yesterday" }, "INVALID_INPUT", "2026-11-30T09:00:00Z"],
    [{ to: "2026-11-30T09:00:00" }, "INVALID_INPUT", "2026-11-30T09:00:00Z"],
    [{ from: "2026-11-30T09:00:00Z", to: "2026-11-29T09:00:00Z" }, "INVALID_INPUT", "earlier"],
    [{ cursor: "nonsense" }, "INVALID_CURSOR", "cursor"],
    [
      { cursor: forged("2026-99-99T99:00:00.000Z", "2026-99-99T99:00:00.000Z", "2026-99-99T99", "") },
      "INVALID_CURSOR",
      "cursor",
    ],
    [
      { cursor: forged("2026-02-31T00:00:00.000Z", "2026-03-01T00:00:00.000Z", "2026-02-31T01", "") },
      "INVALID_CURSOR",
      "cursor",
    ],
    [
      { cursor: forged("2026-03-01T00:00:00.000Z", "2026-03-02T00:00:00.000Z", "2026-03-01T29", "") },
      "INVALID_CURSOR",
      "cursor",
    ],
  ])("%j is refused with what to do next", async (query, type, hint) => {
    const { error } = await page(query);
    expect(error?.type).toBe(type);
    expect(error?.hint).toContain(hint);
  });

  test("keeps events for AUDIT_RETENTION_DAYS: DynamoDB may delete them then", async () => {
    const { env } = await import("../../functions/_runtime/env.ts");
    const stored = [...(await tableItems({ audit: true }))].filter(([key]) => key.startsWith("AUDIT#"));
    expect(stored.length).toBeGreaterThan(0);
    for (const [, { at, ttl }] of stored) {
      const days = (Number(ttl) - Date.parse(String(at)) / 1000) / 86_400;
      expect(Math.round(days)).toBe(env().AUDIT_RETENTION_DAYS);
    }
  });

  test("comes to an end, however far back it is asked to go: nothing is older than what is kept", async () => {
    for (const query of [
      { from: "0000-01-01T00:00:00+01:00", to: "0000-01-02T00:00:00Z" },
      { to: "0000-01-01T00:00:00Z" },
      { from: "9999-12-31T00:00:00Z", to: "9999-12-31T23:59:59-01:00" },
      { cursor: forged("0000-01-01T00:00:00.000Z", "0000-01-01T01:00:00.000Z", "0000-01-01T00", "") },
    ])
      expect(await page(query)).toMatchObject({ code: 0, events: [], next_cursor: "" });
    const query = { from: "1970-01-01T00:00:00Z", to: "1971-01-01T00:00:00Z" };
    expect(await page(query)).toMatchObject({ code: 0, events: [], next_cursor: "" });
    const { next_cursor } = await page({ ...query, to: "" });
    expect(Date.parse(next_cursor.split("_")[0] ?? "")).toBeGreaterThan(Date.now() - 400 * 86_400_000);
  });

  test("answers nothing it was asked for with a fault of ours", async () => {
    const instant = fc.oneof(
      fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
      fc
        .tuple(fc.nat(9999), fc.nat(13), fc.nat(32), fc.nat(24), fc.integer({ min: -24, max: 24 }))
        .map(([y, m, d, h, zone]) => {
          const two = (n: number, size = 2) => String(Math.abs(n)).padStart(size, "0");
          return `${two(y, 4)}-${two(m)}-${two(d)}T${two(h)}:00:00${zone < 0 ? "-" : "+"}${two(zone)}:00`;
        }),
    );
    const cursor = fc
      .tuple(instant, instant, instant, fc.string())
      .map(([from, to, hour, after]) => forged(from, to, hour.slice(0, 13), after));
    const query = fc.record(
      { from: instant, to: instant, cursor, limit: fc.integer({ min: 1, max: 100 }) },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(query, async (asked) => {
        const { status } = await system.tool("list_audit_events", asked, { key: auditor });
        expect(status).toBeOneOf([200, 400]);
      }),
      { numRuns: 200 },
    );
  }, 60_000);

  test("shows another workspace nothing of this one's trail", async () => {
    const key = await system.createKey({ workspace: "other", scopes: ["audit:read"] });
    const { body } = await system.tool("list_audit_events", {}, { key });
    expect(body.events).toEqual([]);
    // Its own look is all that there is by now.
    const again = (await system.tool("list_audit_events", {}, { key })).body.events;
    expect(again).toMatchObject([{ tool: "list_audit_events" }]);
  });
});

describe("when the trail can't be written", () => {
  test.each([
    ["is refused", () => Promise.reject(throttled())],
    ["hangs", () => new Promise<never>(() => {})],
  ])(
    "because the table %s, the tool answers all the same, the event goes whole to the log, and a metric counts it",
    async (_, fault) => {
      const printed: string[] = [];
      const logged: string[] = [];
      vi.spyOn(process.stdout, "write").mockImplementation((line) => printed.push(String(line)) > 0);
      vi.spyOn(console, "error").mockImplementation((line) => void logged.push(String(line)));
      onTestFinished(() => void vi.restoreAllMocks());
      const { env } = await import("../../functions/_runtime/env.ts");
      Object.assign(env(), { METRICS_NAMESPACE: "Switchboard" });
      onTestFinished(() => void Object.assign(env(), { METRICS_NAMESPACE: undefined }));
      onTestFinished(
        await intercept("dynamodb", ({ name, input, send }) =>
          name.startsWith("Put") && String(input.Item.PK).startsWith("AUDIT#") ? fault() : send(),
        ),
      );

      const { status, headers } = await system.tool("get_agent_status", { agent_name: lead, user_name: "alice" });

      expect(status).toBe(200);
      const request_id = headers.get("x-request-id");
      const whole = { request_id, workspace: "local", key_id: "admin", tool: "get_agent_status", outcome: "ok" };
      expect(logged.map((line) => JSON.parse(line))).toMatchObject([
        { message: "audit event not stored", audit_event: whole },
      ]);
      expect(printed.filter((line) => line.includes('"AuditEventsLost":1'))).toHaveLength(1);
    },
  );
});
