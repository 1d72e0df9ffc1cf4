import { afterAll, describe, expect, test, vi } from "vitest";
import type { Item } from "../../functions/_table/table.ts";
import { table } from "../../infra/table.ts";
import { acts, byWebhook } from "../acts.ts";
import { intercept } from "../delivery/intercept.ts";
import { written } from "../functions/manifest_reader.ts";
import { holdRequest } from "../held_request.ts";
import { makeRepository } from "../repositories/fixture.ts";
import { startTestSystem } from "../system.ts";
import { tableItems } from "../table_items.ts";

/*
 * Every tool runs once, with deliveries by webhook and from the inbox, and sweeps; then everything that went to the
 * table is looked at: what a stand-in for DynamoDB may let pass, and what no single test would notice.
 */

const system = await startTestSystem();
afterAll(() => system.stop());

interface Sent {
  name: string;
  input: Record<string, unknown>;
}
const sent: Sent[] = [];
const ran = new Set<string>();

const tool: typeof system.tool = async (name, input, options = {}) => {
  const headers = { "idempotency-key": `${name}-${sent.length}`, ...options.headers };
  const answer = await system.tool(name, input, { ...options, headers });
  expect(answer.status, `${name}: ${JSON.stringify(answer.body)}`).toBeLessThan(300);
  ran.add(name);
  return answer;
};
const { assign, call, receive, register, reply, statusOf, update } = acts(tool);

const stop = await intercept("dynamodb", ({ name, input, send }) => {
  sent.push({ name, input });
  return send();
});
await runEverything();
stop();
const items = [...(await tableItems({ audit: true })).values()];

async function runEverything(): Promise<void> {
  const webhook = await system.webhookAgent((delivery, index) =>
    index === 0 ? { status: 500 } : delivery.body.type === "task" ? { body: { content: "Done." } } : { status: 202 },
  );
  const lead = await register("lead", { role: "director", skills: ["leading"] });
  const writer = await register("writer", byWebhook(webhook));
  const [coder, leaver] = [await register("coder"), await register("leaver")];
  await tool("register_agent", { agent_name: writer, role: "member", ...byWebhook(webhook), rotate_secret: true });
  await tool("remove_agent", { agent_name: leaver });
  await tool("register_project", { user_name: "alice", project_name: "官网", files: [{ name: "home.md" }] });

  const session_id = "s-1";
  const pair = { session_id, sender: lead, receiver: coder };
  const waiting = call({ ...pair, files: [{ name: "a" }] }, 20);
  const { messages } = (await receive(coder, { session_id }, 20)).body;
  await receive(coder, { renew: [messages[0]?.message_id] });
  await reply(messages[0]?.call_id ?? "", coder, { files: ["a.md"] });
  expect((await waiting).body.content).toBe("Yes.");

  const { call_id } = (await call(pair)).body;
  await reply(call_id, coder);
  const notices = (await receive(lead, { limit: 10 })).body.messages.map(({ message_id }) => message_id);
  await receive(lead, { ack: notices });
  await tool("get_call", { call_id, agent_name: lead });
  const dropped = (await call(pair)).body.call_id;
  await receive(coder);
  await tool("cancel_call", { call_id: dropped, sender: lead, reason: "Never mind." });
  await call({ ...pair, receiver: writer });
  await webhook.received(2);

  const task = (name: string, executor: string) => ({ name, executor, content: "Please." });
  const work = { session_id, leader: lead, project_name: "官网" };
  const tasks = [task("text", writer), task("code", coder), task("test", coder), task("its own", lead)];
  const { body } = await assign({ ...work, tasks }, 0);
  const [, code = "", tests = ""] = body.tasks.map(({ task_id }) => task_id);
  await update(code, coder, "running", { detailed: "Half." });
  await update(code, coder, "done", { detailed: "Whole.", files: ["a.ts"] });
  await tool("cancel_task", { task_id: tests, leader: lead });
  await tool("get_project", { user_name: "alice", project_name: "官网", limit: 1 });
  await tool("get_project", { user_name: "alice", assignment_id: body.assignment_id });
  await statusOf(coder);
  await tool("list_agents", { role: "member" });

  const { key_id, token } = await otherPerson();
  const toProject = { user_name: "alice", project_name: "held", project_root_dir: "", description: "", files: [] };
  const approval_id = await holdRequest("register_project", toProject, { key_id });
  await system.sweep();
  await tool("list_approvals", {});
  await tool("decide_approval", { approval_id, decision: "approve" });
  const [denied, expired] = [await holdRequest("register_project", {}), await holdRequest("register_project", {})];
  await tool("decide_approval", { approval_id: denied, decision: "deny" });
  await tool("list_approvals", { approval_id: expired });
  await tool("list_audit_events", { limit: 1 }, { key: token });

  const limited = await system.createKey({ rate_per_minute: 9 });
  await tool("list_agents", {}, { key: limited });

  const later = { name: "later", user_name: "alice", leader: lead, content: "Morning.", tasks: [task("later", coder)] };
  const once = await tool("schedule_agent_work", { ...later, schedule: "at(2090-01-01T09:00:00)" });
  const { schedule_id } = (await tool("schedule_agent_work", { ...later, schedule: "cron(0 9 1 1 ? *)" })).body;
  for (const day of ["01", "01", "02"]) {
    const scheduled_time = `2090-01-${day}T09:00:00Z`;
    await system.functions.runSchedule({ workspace: "local", schedule_id, scheduled_time } as never);
  }
  await tool("list_schedules", { leader: lead });
  await tool("cancel_schedule", { schedule_id: once.body.schedule_id, leader: lead });
  await tool("schedule_agent_work", { ...later, schedule: "at(2090-01-01T09:00:00)" });
  const repositoryId = await makeRepository({ "a.ts": "one\ntwo\n" }, afterAll);
  await tool("search_code", { repositoryId, query: "two" });
  await tool("read_file_range", { repositoryId, path: "a.ts", startLine: 1, endLine: 2 });

  await call({ ...pair, deadline_s: 1 });
  await assign({ ...work, tasks: [task("late", coder)], deadline_s: 1 });
  await system.sweep(90_000);
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 2_000, shouldAdvanceTime: true });
  await system.sweep();
  vi.useRealTimers();
}

async function otherPerson() {
  const token = await system.createKey({ id: "asker", actor: "asker@example.com" });
  return { key_id: "asker", token };
}

test("every tool has run", () => {
  expect([...ran].sort()).toEqual(written.map(({ name }) => name).sort());
});

describe("every expression", () => {
  const kinds = ["UpdateExpression", "ConditionExpression", "KeyConditionExpression", "FilterExpression"];
  const parts = sent.flatMap(({ input }) => [input, ...inTransaction(input)]);
  const written = parts.flatMap((part) => [...kinds, "ProjectionExpression"].flatMap((kind) => part[kind] ?? []));
  const expressions = [...new Set(written.map(String))];

  function inTransaction({ TransactItems }: Record<string, unknown>): Record<string, unknown>[] {
    const writes = (TransactItems ?? []) as Record<string, Record<string, unknown>>[];
    return writes.flatMap((write) => Object.values(write));
  }

  test("names attributes by aliases only, so that no reserved word is among them; the keys alone are bare", () => {
    expect(expressions.length).toBeGreaterThan(30);
    // None of these four is reserved; `status`, `name`, `open`, `minute`, `ttl` and many others of ours are.
    const bare = new Set([
      table.partitionKey,
      table.sortKey,
      table.index.partitionKey,
      table.index.sortKey,
    ]) as Set<string>;
    const words =
      /^(SET|ADD|REMOVE|DELETE|AND|OR|NOT|BETWEEN|IN|attribute_(not_)?exists|begins_with|contains|size|if_not_exists|list_append)$/;
    for (const expression of expressions) {
      const names = expression.match(/(?<![#:\w])\w+/g) ?? [];
      expect(
        names.filter((name) => !words.test(name) && !bare.has(name)),
        expression,
      ).toEqual([]);
    }
  });

  test("is within DynamoDB's 4 KB and 300 operators", () => {
    for (const expression of expressions) {
      expect(Buffer.byteLength(expression)).toBeLessThanOrEqual(4_096);
      expect((expression.match(/\b(AND|OR|NOT|=|<|>)|\w+\(/g) ?? []).length).toBeLessThanOrEqual(300);
    }
  });
});

describe("every command", () => {
  test("is one that costs by what it finds: there is no Scan", () => {
    expect(sent.filter(({ name }) => /Scan/.test(name))).toEqual([]);
  });

  test("that reads the base table reads it strongly consistent, and one that reads the index does not ask for that", () => {
    const reads = sent.filter(({ name }) => /^(Get|Query|BatchGet)/.test(name));
    expect(reads.length).toBeGreaterThan(50);
    for (const { name, input } of reads) {
      const requests = Object.values((input.RequestItems as Record<string, Item> | undefined) ?? { input });
      for (const request of requests) {
        if (request.IndexName === undefined) expect(request, name).toMatchObject({ ConsistentRead: true });
        else expect(request, name).not.toMatchObject({ ConsistentRead: true });
      }
    }
  });

  test("that writes more than once says what it found, and none is larger than DynamoDB takes", () => {
    for (const { name, input } of sent) {
      if (name.startsWith("TransactWrite")) expect((input.TransactItems as unknown[]).length).toBeLessThanOrEqual(100);
      if (name.startsWith("BatchWrite"))
        for (const puts of Object.values(input.RequestItems as Record<string, unknown[]>))
          expect(puts.length).toBeLessThanOrEqual(25);
    }
  });
});

describe("every record", () => {
  test("expires by epoch seconds, if it expires, and not before what it tells of has been kept for its time", () => {
    const expiring = items.filter(({ ttl }) => ttl !== undefined);
    expect(new Set(expiring.map(kindOf))).toEqual(
      new Set([
        "SESSION",
        "MSG",
        "TASK",
        "ASSIGNMENT",
        "TEXT",
        "IDEMPOTENCY",
        "RATE",
        "AUDIT",
        "APPROVAL",
        "INPUT",
        "RESULT",
        "SCHEDULE",
      ]),
    );
    for (const { PK, SK, ttl } of expiring) {
      expect(ttl, `${PK} ${SK}`).toSatisfy(
        (at) => Number.isInteger(at) && at < 1e11 && at * 1000 > Date.now() - 60_000,
      );
    }
    const kept = expiring.filter((item) => !["IDEMPOTENCY", "RATE"].includes(kindOf(item)));
    for (const { ttl } of kept) expect(Number(ttl)).toBeGreaterThan(Date.now() / 1000 + 89 * 86_400);
  });

  test("that says who is busy, or who somebody is, does not expire by itself", () => {
    const lasting = items.filter(({ ttl }) => ttl === undefined);
    expect(new Set(lasting.map(kindOf))).toEqual(
      new Set(["KEY", "REPOSITORY", "PROFILE", "PROJECT", "INBOX", "SCHEDULE", "INPUT"]),
    );
  });

  test("is under its workspace, or is a key of it", () => {
    for (const { PK } of items) expect(PK).toMatch(/^(WS|KEY|AUDIT)#local#/);
  });

  test("is in the index only with both of its keys, and out of it once it is closed", () => {
    for (const { GSI1PK, GSI1SK, status, SK } of items) {
      expect(typeof GSI1PK).toBe(typeof GSI1SK);
      if (/^(MSG|TASK)#/.test(String(SK))) expect(GSI1PK !== undefined).toBe(status === "open" || status === "running");
    }
  });

  test("holds only what JSON can hold, sets of texts, and bytes", () => {
    const plain = (value: unknown): boolean =>
      value === null ||
      ["string", "boolean"].includes(typeof value) ||
      Number.isFinite(value) ||
      value instanceof Uint8Array ||
      (value instanceof Set && value.size > 0 && [...value].every((entry) => typeof entry === "string")) ||
      (Array.isArray(value) ? value.every(plain) : isRecord(value) && Object.values(value).every(plain));
    for (const item of items) expect(plain(item), JSON.stringify(item)).toBe(true);
  });

  function kindOf({ PK, SK }: Item): string {
    if (String(PK).startsWith("AUDIT#")) return "AUDIT";
    return String(SK).split("#")[0] ?? "";
  }
  const isRecord = (value: unknown): value is object =>
    typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
});
