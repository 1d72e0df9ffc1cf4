import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { afterAll, describe, expect, inject, test, vi } from "vitest";
import { type LocalProcess, startProcess } from "../local/start_process.ts";
import { type ToolClient, toolClient } from "../tool_client.ts";
import { startWebhookAgent, type WebhookAgent } from "../webhook_agent.ts";

/*
 * Each scenario runs again and again, and the system is killed at its first, second, third … write, until it
 * gets through without meeting the failpoint. After each kill it starts again on the same table, the client
 * repeats what it got no answer to, and in the end everything must be as if nothing had happened.
 */

const preload = join(import.meta.dirname, "failpoint.ts");
const agents: WebhookAgent[] = [];
afterAll(() => Promise.all(agents.map((agent) => agent.stop())));

/** What the clients of a system know, over its crashes. */
interface World {
  tool: ToolClient;
  /** Issues the key of a person who decides on approvals. */
  issueDecider: () => Promise<unknown>;
  webhook: string;
  sweep: () => Promise<unknown>;
  /** Distinct messages that the webhook agent got, in the order in which each came first. */
  received: () => string[];
  /** Receives whatever is in an agent's inbox, and answers all that it has ever got, without repeats. */
  drain: (agent: string) => Promise<Received[]>;
}

interface Received {
  kind: string;
  status: string;
  content: string;
}

interface Scenario {
  /** Settings of `functions/_runtime/env.ts`. */
  env?: Record<string, string>;
  /** Before the failpoint is armed. */
  prepare(world: World): Promise<void>;
  /** What clients do, and what must hold in the end. It starts over after a crash. */
  play(world: World): Promise<void>;
}

const common = { session_id: "s-1", user_name: "alice" };
const once = (key: string, prefer = "respond-async") => ({ headers: { "idempotency-key": key, prefer } });

const call = (tool: ToolClient, receiver: string, content: string) =>
  tool("call_agent", { ...common, sender: "lead", receiver, content }, once(content));

const calls: Scenario = {
  prepare: async ({ tool, webhook }) => {
    await tool("register_agent", { agent_name: "lead", role: "director" });
    await tool("register_agent", hook("hook", webhook));
  },
  play: async ({ tool, received, drain }) => {
    for (const content of ["first", "second"]) expect([200, 202]).toContain((await call(tool, "hook", content)).status);
    for (const content of ["first", "second"]) {
      await eventually(async () =>
        expect((await call(tool, "hook", content)).body).toMatchObject({ code: 0, content: `re: ${content}` }),
      );
    }
    expect(received()).toEqual(["first", "second"]);
    expect((await drain("lead")).map(({ content }) => content).sort()).toEqual(["re: first", "re: second"]);
    await expectIdle(tool, "hook");
  },
};

const inboxReply: Scenario = {
  prepare: async ({ tool }) => {
    for (const agent_name of ["lead", "writer"]) await tool("register_agent", { agent_name, role: "member" });
  },
  play: async ({ tool, drain }) => {
    const { call_id } = (await call(tool, "writer", "hello")).body;
    expect(await drain("writer")).toMatchObject([{ kind: "call", content: "hello" }]);
    const reply = await tool("reply_call", { call_id, sender: "writer", content: "hi" }, once("reply"));
    expect(reply).toMatchObject({ status: 200, body: { status: "answered" } });
    expect((await call(tool, "writer", "hello")).body).toMatchObject({ code: 0, content: "hi" });
    expect(await drain("lead")).toMatchObject([{ kind: "reply", content: "hi" }]);
    await expectIdle(tool, "writer");
  },
};

const assignment: Scenario = {
  prepare: async ({ tool, webhook }) => {
    await tool("register_agent", { agent_name: "lead", role: "director" });
    await tool("register_agent", { agent_name: "writer", role: "member" });
    await tool("register_agent", hook("hook", webhook));
  },
  play: async ({ tool, received, drain }) => {
    const { body } = await assign(tool);
    const task_id = body.tasks.find(({ executor }) => executor === "writer")?.task_id;
    await drain("writer");
    for (const status of ["running", "done"]) {
      const updated = await tool(
        "update_task",
        { task_id, executor: "writer", status, detailed: status },
        once(status),
      );
      expect(updated.status).toBe(200);
    }
    const statuses = async () => (await assign(tool)).body.tasks.map(({ status }) => status);
    await eventually(async () => expect(await statuses()).toEqual(["done", "done"]));
    expect(received()).toEqual(["all\n\ndo it"]);
    expect(await drain("lead")).toMatchObject([{ kind: "report", status: "ended" }]);
    for (const agent of ["writer", "hook"]) await expectIdle(tool, agent);
  },
};

const approved: Scenario = {
  env: { APPROVAL_TOOLS: "assign_agent_work" },
  prepare: async ({ tool, issueDecider, webhook }) => {
    await tool("register_agent", { agent_name: "lead", role: "director" });
    await tool("register_agent", { agent_name: "writer", role: "member" });
    await tool("register_agent", hook("hook", webhook));
    await issueDecider();
  },
  play: async ({ tool, drain }) => {
    const held = await assign(tool);
    expect([200, 202]).toContain(held.status);
    const approval_id = held.body.error?.details?.approval_id;
    if (held.status === 202) {
      const decision = { approval_id, decision: "approve" };
      const decided = await tool("decide_approval", decision, { ...once("decide"), key: deciderKey });
      expect(decided.status).toBe(200);
    }
    await eventually(async () => expect((await assign(tool)).body.tasks).toHaveLength(2));
    expect((await drain("writer")).map(({ kind }) => kind)).toEqual(["task"]);
    expect(await drain("lead")).toMatchObject([{ kind: "reply", status: "executed" }]);
  },
};

const overdue: Scenario = {
  prepare: async ({ tool }) => {
    for (const agent_name of ["lead", "writer"]) await tool("register_agent", { agent_name, role: "director" });
    const input = { ...common, sender: "lead", receiver: "writer", content: "hello", deadline_s: 1 };
    const { call_id } = (await tool("call_agent", input, once("call"))).body;
    const found = async () => (await tool("get_call", { call_id, agent_name: "lead" })).body.status;
    await eventually(async () => expect(await found()).toBe("timed_out"));
  },
  play: async ({ tool, sweep, drain }) => {
    await sweep();
    await eventually(async () => expect(await drain("lead")).toMatchObject([{ kind: "reply", status: "timed_out" }]));
    expect(await drain("writer")).toEqual([]);
    await expectIdle(tool, "writer");
  },
};

const eventually = (assertion: () => Promise<void>) => vi.waitFor(assertion, { timeout: 20_000, interval: 50 });

const hook = (agent_name: string, webhook_url: string) => ({
  agent_name,
  role: "member",
  delivery: "webhook",
  webhook_url,
  answer_timeout_s: 1,
});

const assign = (tool: ToolClient) =>
  tool(
    "assign_agent_work",
    {
      ...common,
      leader: "lead",
      content: "all",
      project_name: "site",
      tasks: [
        { name: "text", executor: "writer", content: "write it" },
        { name: "page", executor: "hook", content: "do it" },
      ],
    },
    once("assign"),
  );

async function expectIdle(tool: ToolClient, agent_name: string) {
  const { body } = await tool("get_agent_status", { agent_name, user_name: "alice" });
  expect(body.todos).toEqual([]);
}

/** Runs a scenario with a kill at one write. Answers whether that write was reached. */
async function run(scenario: Scenario, write: number, when: "before" | "after"): Promise<boolean> {
  const agent = await startWebhookAgent(({ body }) => ({ body: { content: `re: ${String(body.data.content)}` } }));
  agents.push(agent);
  const table = {
    DYNAMODB_ENDPOINT: inject("dynamodbEndpoint"),
    TABLE_NAME: `fault-${randomBytes(8).toString("hex")}`,
  };
  const env = { ...table, ...scenario.env };
  const memory: Memory = new Map();
  let system = await startProcess([], env, preload);
  await scenario.prepare(worldOf(system, agent, memory));
  await system.ask({ arm: { write, when } });
  const killed = await Promise.race([
    playedThrough(scenario.play(worldOf(system, agent, memory)), system),
    system.ended.then(() => true),
  ]);
  if (killed) {
    system = await startProcess([], { ...env, SWITCHBOARD_KEY: system.key }, preload);
    await scenario.play(worldOf(system, agent, memory));
  }
  await system.kill9();
  return killed;
}

/** False: it came to its end. A connection that breaks means that the process ends; anything else is a failure. */
async function playedThrough(play: Promise<void>, system: LocalProcess): Promise<boolean> {
  try {
    await play;
    return false;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    await system.ended;
    return true;
  }
}

const secret = randomBytes(32).toString("hex");
const deciderKey = `sb_local_boss_${secret}`;

/** Per agent, the messages it got by id, and how many requests for them were answered. */
type Memory = Map<string, { messages: Map<string, Received>; answered: number }>;

function worldOf({ url, key, ask }: LocalProcess, agent: WebhookAgent, memory: Memory): World {
  const tool = toolClient(url, key);
  return {
    tool,
    webhook: agent.url,
    issueDecider: () => ask({ decider: { secret } }),
    sweep: () => ask({ sweep: true }),
    received: () => {
      const contents = agent.deliveries.map(({ body: { data } }) => [data.message_id, String(data.content)] as const);
      return [...new Map([...contents].reverse()).entries()].reverse().map(([, content]) => content);
    },
    drain: async (agent_name) => {
      const kept = memory.get(agent_name) ?? { messages: new Map(), answered: 0 };
      memory.set(agent_name, kept);
      for (;;) {
        // A request that was cut off is repeated under its key: a lease that nobody heard of is found again.
        const ack = [...kept.messages]
          .filter(([, { kind }]) => kind === "reply" || kind === "report")
          .map(([id]) => id);
        const { body } = await tool(
          "receive_messages",
          { agent_name, limit: 10, ack },
          once(`${agent_name}-${kept.answered}`, ""),
        );
        kept.answered++;
        for (const message of body.messages) kept.messages.set(message.message_id, message);
        if (body.messages.length === 0) return [...kept.messages.values()];
      }
    },
  };
}

const parallel = 3;

describe.each([
  ["two calls to a webhook", calls],
  ["a call that is answered from an inbox", inboxReply],
  ["an assignment, its progress and its end", assignment],
  ["an assignment that a person approves", approved],
  ["a sweep that finds a call overdue", overdue],
] as const)("%s", (_, scenario) => {
  test.each(["before", "after"] as const)(
    "comes out the same when the process is killed %s any write",
    { timeout: 300_000 },
    async (when) => {
      let kills = 0;
      for (let write = 1; ; write += parallel) {
        const batch = Array.from({ length: parallel }, (_, index) => run(scenario, write + index, when));
        const met = await Promise.all(batch);
        kills += met.filter(Boolean).length;
        if (met.includes(false)) break;
      }
      expect(kills).toBeGreaterThan(3);
    },
  );
});
