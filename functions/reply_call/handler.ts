import { callState } from "../_delivery/calls.ts";
import { closeMessage } from "../_delivery/close.ts";
import { ToolError } from "../_runtime/errors.ts";
import { assertTexts } from "../_runtime/limits.ts";
import { type Context, serve } from "../_runtime/serve.ts";
import { readAgent } from "../_table/agents.ts";
import { effectOfWinner, rememberWrites } from "../_table/idempotency.ts";
import { readInboxItem } from "../_table/inbox.ts";
import { fold } from "../_table/keys.ts";
import { type Head, isOpen, readHead } from "../_table/messages.ts";
import { noteSeen } from "../_table/receivers.ts";
import { keepRefusedReply, type Reply } from "../_table/texts.ts";
import { contract } from "./contract.ts";

export const handler = serve(contract, async (input, context) => {
  const { workspace, repeat } = context;
  assertTexts(input.content, input.files);
  const head = await readHead(workspace, input.call_id, "call");
  if (head === undefined) throw new ToolError("CALL_NOT_FOUND", "There is no such call.");
  if (repeat?.effect !== undefined) return returns(head);
  const reply = {
    sender: input.sender,
    type: input.type,
    content: input.content,
    files: input.files,
    received_at: Date.now(),
  };
  if (fold(head.receiver) !== fold(input.sender)) {
    if ((await readAgent(workspace, input.sender)) === undefined)
      throw new ToolError("CALL_NOT_FOUND", "No agent of this name has such a call.");
    return refuse(workspace, head, reply, "It came from another agent than the one that was called.");
  }
  if (!(await land(context, head, reply))) {
    if ((await effectOfWinner(repeat)) !== undefined) return returns(head);
    return refuse(workspace, head, reply, "The call had ended when it came.");
  }
  const replier = await readAgent(workspace, input.sender);
  if (replier !== undefined) await noteSeen(workspace, replier, Date.now());
  return returns(head);
});

/** True when this reply is the call's answer now. */
async function land({ workspace, repeat }: Context, head: Head, reply: Omit<Reply, "refused">): Promise<boolean> {
  const item = isOpen(head) ? await readInboxItem(workspace, head) : undefined;
  if (item?.id !== head.id) return false;
  const extra = rememberWrites(repeat, head.id);
  return closeMessage(workspace, item, { status: "answered", reply, when: "before deadline", extra });
}

/** The first answer stays; this one is kept on the call's record for people to find. */
async function refuse(workspace: string, head: Head, reply: Omit<Reply, "refused">, why: string): Promise<never> {
  const mine = fold(head.receiver) === fold(reply.sender);
  await keepRefusedReply(workspace, head.id, { ...reply, refused: why }, mine ? "receiver" : "other");
  const after = (await readHead(workspace, head.id, "call")) ?? head;
  throw new ToolError("CALL_CLOSED", `This reply does not count: ${why[0]?.toLowerCase()}${why.slice(1)}`, {
    // Whose call it is and how it stands is not for others.
    ...(mine
      ? { returns: { ...returns(after), status: callState(after, true, Date.now()) } }
      : { hint: "Only the agent that was called may answer. Check call_id and sender." }),
  });
}

/** The reply goes back to the agent that called. */
const returns = (head: Head) => ({
  call_id: head.id,
  session_id: head.session_id,
  user_name: head.user_name,
  sender: head.receiver,
  receiver: head.sender,
  project_name: head.project_name,
  task_name: head.task_name,
  status: "answered" as const,
});
