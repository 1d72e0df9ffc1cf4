import { afterAll, expect, test } from "vitest";
import { startTestSystem } from "../system.ts";
import type { DeliveryHandler, WebhookAgent } from "../webhook_agent.ts";

/*
 * 200 sessions send five calls each, all at once, to 20 agents, of which two fail or hang: once without the
 * sessions of those two, once with them, so that it shows what they cost the others.
 */

const system = await startTestSystem({ CALLS_PER_PAIR_MINUTE: "10000" });
afterAll(() => system.stop());

const sessionCount = 200;
const agentNames = Array.from({ length: 20 }, (_, index) => `agent-${index}`);
const [failing = "", hanging = ""] = agentNames;
const isHealthy = (agent: string) => agent !== failing && agent !== hanging;

/** One call on its way; resolved with what its caller heard. */
interface Call {
  /** Stands in its `task_name`, so that the reply is known by it also when it comes as a message. */
  key: string;
  session: string;
  receiver: string;
  /** Its place among its session's calls. */
  index: number;
  waits: boolean;
  callId: string;
  startedAt: number;
  /** Time until its caller had the reply. */
  tookMs: number;
  /** Replies, however they came. */
  heard: string[];
  end: PromiseWithResolvers<void>;
}

const calls = new Map<string, Call>();

function hear(key: string, content: string): void {
  const call = calls.get(key);
  if (call === undefined) throw new Error(`Nobody made the call ${key}.`);
  call.heard.push(content);
  call.tookMs = performance.now() - call.startedAt;
  call.end.resolve();
}

/** The callers' platform: takes the replies to calls that no longer wait. */
const home = await system.webhookAgent(({ body: { data } }) => {
  hear(String(data.task_name), String(data.content || data.status));
  return { status: 204 };
});

let isSwitchedOff = false;
const handlerOf = (agent: string): DeliveryHandler => {
  return ({ body: { data } }) => {
    if (isHealthy(agent)) return { body: { content: `re: ${String(data.content)}` } };
    if (isSwitchedOff) return { status: 410 };
    return agent === failing ? { status: 500 } : new Promise(() => {});
  };
};

const webhooks = new Map<string, WebhookAgent>();
for (const agent of agentNames) webhooks.set(agent, await system.webhookAgent(handlerOf(agent)));

const register = (agent_name: string, webhook_url: string, answer_timeout_s = 60) =>
  system.tool("register_agent", { agent_name, role: "member", delivery: "webhook", webhook_url, answer_timeout_s });

for (const [agent, { url }] of webhooks) await register(agent, url, agent === hanging ? 1 : 60);
for (let index = 0; index < sessionCount; index++) await register(`caller-${index}`, home.url);

/** Three calls go to one agent, two to another: two groups in turn, and each agent has as many. */
const receiversOf = (session: number) =>
  [0, 0, 7, 0, 7].map((away) => agentNames[(session + away) % agentNames.length] ?? "");

/** A session sends each call once the one before was acknowledged: half of them wait for the reply as well. */
async function converse(phase: string, session: number, receivers: readonly string[]): Promise<void> {
  for (const [index, receiver] of receivers.entries()) {
    const waits = session % 2 === 0 && isHealthy(receiver);
    const key = `${phase} ${session} ${index}`;
    const call: Call = {
      key,
      session: `${phase} ${session}`,
      receiver,
      index,
      waits,
      callId: "",
      startedAt: performance.now(),
      tookMs: 0,
      heard: [],
      end: Promise.withResolvers(),
    };
    calls.set(key, call);
    const input = {
      session_id: call.session,
      user_name: "alice",
      sender: `caller-${session}`,
      receiver,
      content: key,
      task_name: key,
    };
    const { status, body } = await acknowledged(input, {
      "idempotency-key": key.replaceAll(" ", "-"),
      prefer: waits ? "wait=20" : "respond-async",
    });
    expect([200, 202], `${key}: ${body.msg}`).toContain(status);
    call.callId = body.call_id;
    if (status === 200) hear(key, body.content);
  }
}

/** Sends a call until it is acknowledged: 503 says that nobody knows, and to send the same again. */
async function acknowledged(input: object, headers: Record<string, string>) {
  for (;;) {
    const answer = await system.tool("call_agent", input, { headers });
    if (answer.status !== 503) return answer;
  }
}

/** All sessions at once. Answers the calls to healthy agents, once each has been heard of. */
async function play(phase: string, mayCall: (receiver: string) => boolean): Promise<Call[]> {
  const sessions = Array.from({ length: sessionCount }, (_, session) => session);
  await Promise.all(sessions.map((session) => converse(phase, session, receiversOf(session).filter(mayCall))));
  const healthy = [...calls.values()].filter(({ key, receiver }) => key.startsWith(phase) && isHealthy(receiver));
  await Promise.all(healthy.map(({ end }) => end.promise));
  return healthy;
}

test("of 1,000 calls none is lost, none doubled, none out of order, and failing agents stop nobody", {
  timeout: 600_000,
}, async () => {
  const alone = await play("alone", isHealthy);
  const beside = await play("beside", () => true);
  const ofFailing = [...calls.values()].filter(({ receiver }) => !isHealthy(receiver));

  const open = await openTodos();
  expect(open[failing], "calls that are still tried, when all others are through").toBeGreaterThan(0);
  expect(open[hanging], "calls that are still tried, when all others are through").toBeGreaterThan(0);
  isSwitchedOff = true;
  await Promise.all(ofFailing.map(({ end }) => end.promise));

  console.log(table({ alone, beside }));
  expect([...calls.values()].filter(({ key }) => key.startsWith("beside"))).toHaveLength(5 * sessionCount);
  for (const { key, receiver, heard } of calls.values()) {
    expect(heard, key).toEqual([isHealthy(receiver) ? `re: ${key}` : "failed"]);
  }
  for (const [agent, { deliveries }] of webhooks) {
    if (isHealthy(agent)) expectOnce(deliveries);
    expectInOrder(deliveries);
  }
  await expectOneEndEach();
  expect(await openTodos()).toEqual(Object.fromEntries(agentNames.map((agent) => [agent, 0])));
});

async function openTodos(): Promise<Record<string, number>> {
  const counts = agentNames.map(async (agent_name) => {
    const { body } = await system.tool("get_agent_status", { agent_name, user_name: "alice" });
    return [agent_name, body.todos.length] as const;
  });
  return Object.fromEntries(await Promise.all(counts));
}

type Deliveries = WebhookAgent["deliveries"];

/** What was answered is not sent again. */
function expectOnce(deliveries: Deliveries): void {
  const ids = deliveries.map(({ headers }) => headers["webhook-id"]);
  expect(ids).toHaveLength(new Set(ids).size);
}

/** Within a session, messages come first in the order in which they were sent. */
function expectInOrder(deliveries: Deliveries): void {
  const keys = [...new Set(deliveries.map(({ body }) => String(body.data.content)))];
  const groups = Map.groupBy(keys, (key) => calls.get(key)?.session);
  for (const [session, group] of groups) {
    const indexes = group.map((key) => calls.get(key)?.index ?? 0);
    expect(indexes, session).toEqual(indexes.toSorted((a, b) => a - b));
  }
}

/** The table knows the same end of each call, and why it failed. */
async function expectOneEndEach(): Promise<void> {
  const { readHeads } = await import("../../functions/_table/messages.ts");
  const all = [...calls.values()];
  for (let from = 0; from < all.length; from += 100) {
    const some = all.slice(from, from + 100);
    const heads = await readHeads(
      "local",
      some.map(({ callId }) => callId),
    );
    for (const [index, { key, receiver }] of some.entries()) {
      const { status, reason } = heads[index] ?? {};
      const end = { status, isExplained: reason !== "" };
      expect(end, key).toEqual(
        isHealthy(receiver) ? { status: "answered", isExplained: false } : { status: "failed", isExplained: true },
      );
    }
  }
}

function table({ alone, beside }: Record<"alone" | "beside", Call[]>): string {
  const rows = [true, false].flatMap((waits) =>
    Object.entries({ "without failing agents": alone, "with failing agents": beside }).map(([name, all]) => {
      const times = all
        .filter((call) => call.waits === waits)
        .map(({ tookMs }) => tookMs)
        .sort((a, b) => a - b);
      const at = (share: number) => `${Math.round(times[Math.floor((times.length - 1) * share)] ?? 0)} ms`;
      return [waits ? "waiting" : "async", name, String(times.length), at(0.5), at(0.99)];
    }),
  );
  const widths = [9, 24, 6, 10, 10];
  const lines = [["caller", "healthy agents", "calls", "p50", "p99"], ...rows];
  return lines.map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("")).join("\n");
}
