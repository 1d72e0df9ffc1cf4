import type * as z from "zod";
import { closeMessage } from "../_delivery/close.ts";
import { taskReturns } from "../_delivery/task_returns.ts";
import { ToolError } from "../_runtime/errors.ts";
import { assertBytes, limits } from "../_runtime/limits.ts";
import { type Context, serve } from "../_runtime/serve.ts";
import { readAgent } from "../_table/agents.ts";
import { keepAssignment } from "../_table/assignments.ts";
import { effectOfWinner, rememberWrites } from "../_table/idempotency.ts";
import { type InboxItem, itemUpdate, readInboxItem } from "../_table/inbox.ts";
import { fold } from "../_table/keys.ts";
import { type Head, isOpen, progressHeadWrite, readHead } from "../_table/messages.ts";
import { noteSeen } from "../_table/receivers.ts";
import { ConditionFailed, transact } from "../_table/table.ts";
import { putReply, type Reply } from "../_table/texts.ts";
import { contract } from "./contract.ts";

type Input = z.output<typeof contract.input>;

export const handler = serve(contract, async (input, context) => {
  const { workspace, repeat } = context;
  assertBytes("detailed", input.detailed, limits.contentBytes);
  assertBytes("files", JSON.stringify(input.files), limits.filesBytes);
  const head = await readHead(workspace, input.task_id, "task");
  if (head === undefined || fold(head.receiver) !== fold(input.executor)) {
    throw new ToolError("TASK_NOT_FOUND", `${input.executor} has no such task.`);
  }
  if (
    repeat?.effect === undefined &&
    !(await apply(context, head, input)) &&
    (await effectOfWinner(repeat)) === undefined
  ) {
    const after = await taskReturns(workspace, head.id);
    throw new ToolError("TASK_CLOSED", `The task has ended already: ${after.status}.`, {
      details: { status: after.status },
      returns: after,
    });
  }
  const executor = await readAgent(workspace, input.executor);
  if (executor !== undefined) await noteSeen(workspace, executor, Date.now());
  return taskReturns(workspace, head.id);
});

/** False when the task had ended, or a parallel repeat under the same key was first. */
async function apply(context: Context, head: Head, input: Input): Promise<boolean> {
  const { workspace, repeat } = context;
  const item = isOpen(head) ? await readInboxItem(workspace, head) : undefined;
  if (item?.id !== head.id) return false;
  const text = {
    sender: input.executor,
    type: "text",
    content: input.detailed,
    files: input.files,
    received_at: Date.now(),
  };
  try {
    if (input.status === "running") return await progress(context, item, text);
    const extra = rememberWrites(repeat, head.id);
    return await closeMessage(workspace, item, { status: input.status, reply: text, when: "before deadline", extra });
  } catch (error) {
    if (error instanceof ConditionFailed) return false;
    throw error;
  }
}

/** The task runs: its lease is over, and its deadline counts anew from here. */
async function progress(
  { workspace, repeat }: Context,
  item: InboxItem,
  text: Omit<Reply, "refused">,
): Promise<boolean> {
  if (item.deadline_at <= Date.now()) return false;
  const extended = () => Math.max(item.deadline_at, Date.now() + item.deadline_s * 1000);
  await keepAssignment(workspace, item.assignment_id ?? "", item.sent_at, extended());
  const reply_id = await putReply(workspace, item.id, text, extended());
  const now = Date.now();
  const deadline_at = extended();
  await transact([
    {
      Update: itemUpdate(workspace, item, {
        set: { status: "running", deadline_at, claimed_until: 0 },
        condition: "#deadline_at > :now",
        values: { ":now": now },
      }),
    },
    progressHeadWrite(workspace, item.id, { reply_id, deadline_at }),
    ...rememberWrites(repeat, item.id),
  ]);
  return true;
}
