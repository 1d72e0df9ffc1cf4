import { join } from "node:path";
import { acts, byWebhook, unique } from "../acts.ts";
import { createKey } from "../create_key.ts";
import { holdRequest } from "../held_request.ts";
import { type ToolClient, toolClient } from "../tool_client.ts";
import type { DeliveryHandler, WebhookAgent } from "../webhook_agent.ts";
import { wholeHour } from "./growth.ts";
import { addAuditEvents, lastFullHour } from "./history.ts";

/** Where a use takes place: a workspace of its own in the system of this process, in which nothing has happened yet. */
export interface Stage {
  workspace: string;
  tool: ToolClient;
  webhookAgent: (handler: DeliveryHandler) => Promise<WebhookAgent>;
}

/** Prepares all that one use of a tool needs; answers the use itself. */
export type Use = (stage: Stage) => Promise<() => Promise<unknown>>;

interface System {
  url: string;
  webhookAgent: Stage["webhookAgent"];
}

export async function newStage({ url, webhookAgent }: System): Promise<Stage> {
  const workspace = unique("w").replaceAll("-", "");
  return { workspace, tool: toolClient(url, await createKey({ workspace })), webhookAgent };
}

/** Under 512 bytes, like most of what agents say to each other. */
const content = "Two sentences for the home page, please: what we do, and for whom. ".repeat(7);
const answering: DeliveryHandler = () => ({ body: { content } });

async function pair({ tool, webhookAgent }: Stage, receivedBy: "webhook" | "inbox") {
  const { register } = acts(tool);
  const delivery = receivedBy === "webhook" ? byWebhook(await webhookAgent(answering)) : {};
  return { session_id: unique("s"), sender: await register("lead"), receiver: await register("writer", delivery) };
}

/** A call that waits in an inbox, with nobody waiting for its reply. */
async function openCall(stage: Stage) {
  const names = await pair(stage, "inbox");
  const { body } = await acts(stage.tool).call({ ...names, content });
  return { ...names, call_id: body.call_id };
}

async function leadAndExecutors({ tool }: Stage, count: number) {
  const { register } = acts(tool);
  const leader = await register("lead", { role: "director" });
  const executors: string[] = [];
  for (let n = 0; n < count; n++) executors.push(await register("writer"));
  const tasks = executors.map((executor, n) => ({ name: `text ${n}`, executor, content }));
  return { leader, tasks, input: { session_id: unique("s"), project_name: unique("site"), leader, content, tasks } };
}

async function assigned(stage: Stage, count: number) {
  const { leader, input } = await leadAndExecutors(stage, count);
  const { body } = await acts(stage.tool).assign(input);
  return { leader, project_name: input.project_name, tasks: body.tasks };
}

const firstOf = <T>([first]: readonly T[]): T => {
  if (first === undefined) throw new Error("There is no first one.");
  return first;
};

const assigning =
  (count: number): Use =>
  async (stage) => {
    const { input } = await leadAndExecutors(stage, count);
    return () => acts(stage.tool).assign(input);
  };

/** An assignment in a session that has had so many messages that each receiver's open ones are counted. */
async function inLongSession(stage: Stage, count: number) {
  const { assign } = acts(stage.tool);
  const { input } = await leadAndExecutors(stage, count);
  const many = Array.from({ length: 36 }, (_, n) => ({ ...input.tasks[n % count], name: `text ${n}` }));
  for (let times = 0; times < 2; times++) await assign({ ...input, tasks: many });
  return input;
}

const assigningInLongSession =
  (count: number): Use =>
  async (stage) => {
    const input = await inLongSession(stage, count);
    return () => acts(stage.tool).assign(input);
  };

const receiving =
  (count: number): Use =>
  async (stage) => {
    const { call, register, receive } = acts(stage.tool);
    const [sender, receiver, session_id] = [await register("lead"), await register("writer"), unique("s")];
    for (let n = 0; n < count; n++) await call({ session_id, sender, receiver, content });
    return () => receive(receiver, { limit: count });
  };

const listing =
  (count: number): Use =>
  async (stage) => {
    for (let n = 0; n < count; n++) await acts(stage.tool).register("writer");
    return () => stage.tool("list_agents", { limit: count });
  };

const showingProject =
  (count: number): Use =>
  async (stage) => {
    const { project_name, tasks } = await assigned(stage, count);
    for (const { task_id, executor } of tasks) await acts(stage.tool).update(task_id, executor, "running");
    return () => stage.tool("get_project", { user_name: "alice", project_name });
  };

const statusWith =
  (count: number): Use =>
  async (stage) => {
    const names = await pair(stage, "inbox");
    for (let n = 0; n < count; n++) await acts(stage.tool).call({ ...names, content, project_name: "site" });
    return () => acts(stage.tool).statusOf(names.receiver);
  };

const project = { user_name: "alice", project_name: "site", project_root_dir: "/srv/site" };

/** Requests of another person that wait for approval; answers the last one's id. */
async function held({ workspace }: Stage, count: number): Promise<string> {
  const asker = { id: "asker", actor: "asker@example.com" };
  await createKey({ workspace, ...asker });
  let last = "";
  for (let n = 0; n < count; n++) {
    last = await holdRequest("register_project", project, { key_id: asker.id, actor: asker.actor }, workspace);
  }
  return last;
}

const listingApprovals =
  (count: number): Use =>
  async (stage) => {
    await held(stage, count);
    return () => stage.tool("list_approvals", { limit: count });
  };

/** Schedules whose first run lies far ahead. */
async function scheduled(stage: Stage, count: number) {
  const { leader, input } = await leadAndExecutors(stage, 1);
  const plan = { name: "yearly", user_name: "alice", ...input, schedule: "cron(0 9 1 1 ? *)" };
  const schedule = async () => (await stage.tool("schedule_agent_work", plan)).body.schedule_id;
  const schedule_ids: string[] = [];
  for (let n = 0; n < count; n++) schedule_ids.push(await schedule());
  return { leader, schedule, schedule_ids };
}

/** This project's seeds, as a repository of the stage. */
async function withSeeds({ workspace }: Stage): Promise<string> {
  const { syncRepository } = await import("../../infra/repositories/sync.ts");
  await syncRepository(workspace, "seeds", join(import.meta.dirname, "../seeds"), undefined);
  return "seeds";
}

const deciding =
  (decision: "approve" | "deny"): Use =>
  async (stage) => {
    const approval_id = await held(stage, 1);
    return () => stage.tool("decide_approval", { approval_id, decision });
  };

const listingEvents =
  (count: number): Use =>
  async ({ workspace, tool }) => {
    const hour = lastFullHour();
    await addAuditEvents(workspace, hour, count);
    return () => tool("list_audit_events", { ...wholeHour(hour), limit: count });
  };

/** Waits in the inbox, answers what comes. */
async function answerOnce({ tool }: Stage, agent: string): Promise<void> {
  const { receive, reply } = acts(tool);
  const { body } = await receive(agent, {}, 20);
  await reply(firstOf(body.messages).call_id, agent, { content });
}

/** A call's whole way, from the request to the reply in its answer. */
export const roundTrips = {
  "call and reply, by webhook": async (stage) => {
    const names = await pair(stage, "webhook");
    return () => acts(stage.tool).call({ ...names, content }, 20);
  },
  "call and reply, by webhook, with an Idempotency-Key": async (stage) => {
    const names = await pair(stage, "webhook");
    const input = { ...names, user_name: "alice", content };
    return () => stage.tool("call_agent", input, { headers: { "idempotency-key": unique("key"), prefer: "wait=20" } });
  },
  "call and reply, by inbox": async (stage) => {
    const names = await pair(stage, "inbox");
    return () => Promise.all([acts(stage.tool).call({ ...names, content }, 20), answerOnce(stage, names.receiver)]);
  },
} satisfies Record<string, Use>;

/** Each tool's uses, by what they do. */
export const uses: Record<string, Record<string, Use>> = {
  register_agent: {
    "a new agent": async ({ tool }) => {
      const input = { agent_name: unique("writer"), role: "member" };
      return () => tool("register_agent", input);
    },
    again: async ({ tool }) => {
      const agent_name = await acts(tool).register("writer");
      return () => tool("register_agent", { agent_name, role: "director" });
    },
  },
  remove_agent: {
    "an idle agent": async ({ tool }) => {
      const agent_name = await acts(tool).register("writer");
      return () => tool("remove_agent", { agent_name });
    },
  },
  list_agents: { "3 agents": listing(3), "50 agents": listing(50) },
  call_agent: {
    "to nobody": async (stage) => {
      const { session_id, sender } = await pair(stage, "inbox");
      return () => acts(stage.tool).call({ session_id, sender, receiver: "wirter", content });
    },
    "to an inbox, without waiting": async (stage) => {
      const names = await pair(stage, "inbox");
      return () => acts(stage.tool).call({ ...names, content });
    },
    "to an inbox, without waiting, in a long session": async (stage) => {
      const { session_id, leader } = await inLongSession(stage, 2);
      const receiver = await acts(stage.tool).register("writer");
      return () => acts(stage.tool).call({ session_id, sender: leader, receiver, content });
    },
    "to a webhook that says 202, without waiting": async (stage) => {
      const { register, call } = acts(stage.tool);
      const agent = await stage.webhookAgent(() => ({ status: 202 }));
      const [sender, receiver] = [await register("lead"), await register("writer", byWebhook(agent))];
      return () => call({ session_id: unique("s"), sender, receiver, content });
    },
  },
  receive_messages: {
    "nothing there": async ({ tool }) => {
      const agent = await acts(tool).register("writer");
      return () => acts(tool).receive(agent);
    },
    "1 call": receiving(1),
    "10 calls": receiving(10),
  },
  reply_call: {
    "the sender waits no longer": async (stage) => {
      const { receiver, call_id } = await openCall(stage);
      return () => acts(stage.tool).reply(call_id, receiver, { content });
    },
  },
  get_call: {
    "not answered yet": async (stage) => {
      const { sender, call_id } = await openCall(stage);
      return () => stage.tool("get_call", { call_id, agent_name: sender });
    },
    answered: async (stage) => {
      const { sender, receiver, call_id } = await openCall(stage);
      await acts(stage.tool).reply(call_id, receiver, { content });
      return () => stage.tool("get_call", { call_id, agent_name: sender });
    },
  },
  cancel_call: {
    "not delivered yet": async (stage) => {
      const { sender, call_id } = await openCall(stage);
      return () => stage.tool("cancel_call", { call_id, sender });
    },
  },
  assign_agent_work: {
    "1 task": assigning(1),
    "10 tasks": assigning(10),
    "40 tasks": assigning(40),
    "2 tasks, in a long session": assigningInLongSession(2),
  },
  update_task: {
    running: async (stage) => {
      const { task_id, executor } = firstOf((await assigned(stage, 2)).tasks);
      return () => acts(stage.tool).update(task_id, executor, "running", { detailed: content });
    },
    "done, others are open": async (stage) => {
      const { task_id, executor } = firstOf((await assigned(stage, 2)).tasks);
      return () => acts(stage.tool).update(task_id, executor, "done", { detailed: content });
    },
    "done, the last one": async (stage) => {
      const { task_id, executor } = firstOf((await assigned(stage, 1)).tasks);
      return () => acts(stage.tool).update(task_id, executor, "done", { detailed: content });
    },
  },
  cancel_task: {
    "not delivered yet": async (stage) => {
      const { leader, tasks } = await assigned(stage, 2);
      return () => stage.tool("cancel_task", { task_id: firstOf(tasks).task_id, leader });
    },
  },
  get_project: { "1 task": showingProject(1), "40 tasks": showingProject(40) },
  register_project: {
    "a new project":
      async ({ tool }) =>
      () =>
        tool("register_project", project),
  },
  list_approvals: { "1 of them": listingApprovals(1), "20 of them": listingApprovals(20) },
  decide_approval: { "approve, with the run of register_project": deciding("approve"), deny: deciding("deny") },
  list_audit_events: {
    "10 of an hour": listingEvents(10),
    "100 of an hour": listingEvents(100),
    "the last day, in which there were none":
      async ({ tool }) =>
      () =>
        tool("list_audit_events", { to: new Date(lastFullHour()).toISOString() }),
  },
  schedule_agent_work: { "1 task": async (stage) => (await scheduled(stage, 0)).schedule },
  list_schedules: {
    "10 of them": async (stage) => {
      const { leader } = await scheduled(stage, 10);
      return () => stage.tool("list_schedules", { leader });
    },
  },
  cancel_schedule: {
    "one that is to run": async (stage) => {
      const { leader, schedule_ids } = await scheduled(stage, 1);
      return () => stage.tool("cancel_schedule", { schedule_id: schedule_ids[0], leader });
    },
  },
  read_file_range: {
    "3 lines": async (stage) => {
      const repositoryId = await withSeeds(stage);
      const range = { repositoryId, path: "tool_definition_template.txt", startLine: 1, endLine: 3 };
      return () => stage.tool("read_file_range", range);
    },
  },
  search_code: {
    "a word": async (stage) => {
      const repositoryId = await withSeeds(stage);
      return () => stage.tool("search_code", { repositoryId, query: "read_file_range" });
    },
  },
  get_agent_status: { idle: statusWith(0), "1 todo": statusWith(1), "20 todos": statusWith(20) },
};
