import { expect } from "vitest";
import { acts, unique } from "../acts.ts";
import { holdRequest } from "../held_request.ts";
import type { ToolClient } from "../tool_client.ts";

type Fields = Record<string, unknown>;
type Answer = Awaited<ReturnType<ToolClient>>;

/** One use of a tool that changes something, with everything in place that it needs. */
interface Change {
  input: Fields;
  /** Another input that would be carried out just as well. */
  other: Fields;
  /** One that is refused, by the tool's own rules. */
  refused: Fields;
  /** What the same input answers when it is carried out a second time, `first` being its first answer. */
  twice(first: Answer, second: Answer): void;
}

type Prepare = (tool: ToolClient) => Promise<Change>;

const wrong = (status: number, type: string) => (_: Answer, second: Answer) =>
  expect(second).toMatchObject({ status, body: { error: { type } } });
const body = (expected: object) => (_: Answer, second: Answer) =>
  expect(second).toMatchObject({ status: 200, body: expected });
const another = (field: string) => (first: Answer, second: Answer) => {
  expect(second.status).toBe(first.status);
  expect(Reflect.get(second.body, field)).not.toEqual(Reflect.get(first.body, field));
};
/** Long enough to be open after a day. */
const deadline_s = 2_592_000;

/** A call from one inbox agent to another, both new. */
async function called(tool: ToolClient, count = 1) {
  const { call, register } = acts(tool);
  const [session_id, sender, receiver] = [unique("s"), await register("asker"), await register("writer")];
  const ids: string[] = [];
  for (let n = 0; n < count; n++) ids.push((await call({ session_id, sender, receiver, deadline_s })).body.call_id);
  return { sender, receiver, call_id: String(ids[0]) };
}

async function assigned(tool: ToolClient) {
  const { assign, register } = acts(tool);
  const [leader, executor] = [await register("lead", { role: "director" }), await register("writer")];
  const tasks = [{ name: "text", executor, content: "Write." }];
  const answer = await assign({ session_id: unique("s"), leader, project_name: unique("site"), tasks });
  return { leader, executor, task_id: answer.body.tasks[0]?.task_id };
}

const yearly = "cron(0 9 1 1 ? *)";

async function scheduled(tool: ToolClient) {
  const { register } = acts(tool);
  const [leader, executor] = [await register("lead", { role: "director" }), await register("writer")];
  const tasks = [{ name: "text", executor, content: "Write." }];
  const input = { name: "一号", schedule: yearly, user_name: "alice", leader, content: "One.", tasks };
  return { leader, input };
}

/** Every tool that changes something. */
export const changes: Record<string, Prepare> = {
  register_agent: async () => {
    const input = { agent_name: unique("writer"), role: "member", display_name: "写手" };
    const refused = { ...input, webhook_url: "https://example.com/" };
    return { input, other: { ...input, role: "director" }, refused, twice: body({ created: false }) };
  },
  remove_agent: async (tool) => {
    const { register } = acts(tool);
    const input = { agent_name: await register("writer") };
    const refused = { agent_name: unique("nobody") };
    const other = { agent_name: input.agent_name.toUpperCase() };
    return { input, other, refused, twice: wrong(404, "AGENT_NOT_FOUND") };
  },
  register_project: async () => {
    const input = { user_name: "alice", project_name: unique("site"), project_root_dir: "/srv", description: "One." };
    const refused = { ...input, description: "中".repeat(30_000) };
    return { input, other: { ...input, description: "Two." }, refused, twice: body({ created: false }) };
  },
  call_agent: async (tool) => {
    const { register } = acts(tool);
    const [sender, receiver, session_id] = [await register("asker"), await register("writer"), unique("s")];
    const input = { session_id, user_name: "alice", sender, receiver, content: "One." };
    const refused = { ...input, receiver: unique("nobody") };
    return { input, other: { ...input, content: "Two." }, refused, twice: another("call_id") };
  },
  cancel_call: async (tool) => {
    const { sender, call_id } = await called(tool);
    const input = { call_id, sender, reason: "One." };
    const refused = { ...input, call_id: `${call_id}0` };
    return { input, other: { ...input, reason: "Two." }, refused, twice: body({ status: "cancelled" }) };
  },
  reply_call: async (tool) => {
    const { receiver, call_id } = await called(tool);
    const input = { call_id, sender: receiver, content: "One." };
    const refused = { ...input, call_id: `${call_id}0` };
    return { input, other: { ...input, content: "Two." }, refused, twice: wrong(409, "CALL_CLOSED") };
  },
  receive_messages: async (tool) => {
    const { receiver, call_id } = await called(tool, 3);
    const input = { agent_name: receiver };
    return { input, other: { ...input, limit: 2 }, refused: { ...input, ack: [call_id] }, twice: another("messages") };
  },
  assign_agent_work: async (tool) => {
    const { register } = acts(tool);
    const [leader, executor] = [await register("lead", { role: "director" }), await register("writer")];
    const tasks = [{ name: "text", executor, content: "Write." }];
    const names = { session_id: unique("s"), user_name: "alice", project_name: unique("site") };
    const input = { ...names, leader, content: "One.", tasks };
    const refused = { ...input, leader: unique("nobody") };
    return { input, other: { ...input, content: "Two." }, refused, twice: another("assignment_id") };
  },
  schedule_agent_work: async (tool) => {
    const { input } = await scheduled(tool);
    const refused = { ...input, schedule: "cron(0 9 30 2 ? *)" };
    return { input, other: { ...input, content: "Two." }, refused, twice: another("schedule_id") };
  },
  cancel_schedule: async (tool) => {
    const { leader, input: work } = await scheduled(tool);
    const { schedule_id } = (await tool("schedule_agent_work", work)).body;
    const input = { schedule_id, leader, reason: "One." };
    const refused = { ...input, schedule_id: `${schedule_id}0` };
    return { input, other: { ...input, reason: "Two." }, refused, twice: body({ status: "cancelled" }) };
  },
  update_task: async (tool) => {
    const { executor, task_id } = await assigned(tool);
    const input = { task_id, executor, status: "done", detailed: "One." };
    const refused = { ...input, task_id: `${task_id}0` };
    return { input, other: { ...input, detailed: "Two." }, refused, twice: wrong(409, "TASK_CLOSED") };
  },
  cancel_task: async (tool) => {
    const { leader, task_id } = await assigned(tool);
    const input = { task_id, leader, reason: "One." };
    const refused = { ...input, task_id: `${task_id}0` };
    return { input, other: { ...input, reason: "Two." }, refused, twice: body({ status: "cancelled" }) };
  },
  decide_approval: async () => {
    const approval_id = await holdRequest("register_project", { user_name: "alice", project_name: "site" });
    const input = { approval_id, decision: "deny", comment: "One." };
    const refused = { ...input, approval_id: approval_id.replace(/.$/, (last) => (last === "0" ? "1" : "0")) };
    return { input, other: { ...input, comment: "Two." }, refused, twice: wrong(409, "ALREADY_DECIDED") };
  },
};

/** By name, each tool that changes something and how to prepare a use of it. */
export const changing = Object.entries(changes);
