import { clipped } from "../_runtime/clipped.ts";
import type { taskStates } from "../_runtime/states.ts";
import type { Assignment } from "../_table/assignments.ts";
import { type Head, readHeads, statusNow } from "../_table/messages.ts";
import { getAll } from "../_table/table.ts";
import { parseReply, type Reply, replyKey } from "../_table/texts.ts";

type TaskState = (typeof taskStates)[number];

export interface TaskReport {
  task_id: string;
  name: string;
  executor: string;
  status: TaskState;
  detailed: string;
}

/** A task's status by the clock. */
export function taskState(head: Pick<Head, "status" | "deadline_at">, nowMs: number): TaskState {
  const status = statusNow(head, nowMs);
  if (status === "open") return "assigned";
  if (status === "answered" || status === "told") throw new Error(`A task can't be '${status}'.`);
  return status;
}

/** The latest text of each head, in one request. */
export async function readReplies(
  workspace: string,
  heads: readonly (Head | undefined)[],
): Promise<(Reply | undefined)[]> {
  const answered = heads.filter((head) => head?.reply_id !== undefined);
  const items = await getAll(answered.map((head) => replyKey(workspace, head?.id ?? "", head?.reply_id ?? "")));
  const byId = new Map(answered.map((head, index) => [head?.id, parseReply(items[index])]));
  return heads.map((head) => byId.get(head?.id));
}

/** What a task says of itself: its executor's words, or why it ended. */
export const detailOf = (head: Head, reply: Reply | undefined) => reply?.content || head.reason;

/** Every task of an assignment as it is now, in the order it was asked for, the refused ones included. */
export async function taskReports(workspace: string, { tasks }: Assignment): Promise<TaskReport[]> {
  const accepted = tasks.filter(({ task_id }) => task_id !== "");
  const now = Date.now(); // From before the heads are read, as for a call's answer.
  const heads = await readHeads(
    workspace,
    accepted.map(({ task_id }) => task_id),
  );
  const replies = await readReplies(workspace, heads);
  const found = new Map(accepted.map(({ task_id }, index) => [task_id, { head: heads[index], reply: replies[index] }]));
  return tasks.map(({ name, executor, task_id, refused }) => {
    const { head, reply } = found.get(task_id) ?? {};
    if (head === undefined) return { task_id, name, executor, status: "rejected", detailed: refused };
    return { task_id, name, executor, status: taskState(head, now), detailed: detailOf(head, reply) };
  });
}

/** The same of an assignment that was made just now, without a look. */
export const newReports = ({ tasks }: Assignment): TaskReport[] =>
  tasks.map(({ name, executor, task_id, refused }) => ({
    task_id,
    name,
    executor,
    status: task_id === "" ? "rejected" : "assigned",
    detailed: refused,
  }));

/** Forty results of 64 KiB would be more than a webhook or the gateway takes. */
export const reported = (detailed: string) => clipped(detailed, 4_000, "get_project has all of it");
