import { env } from "../_runtime/env.ts";
import { ToolError } from "../_runtime/errors.ts";
import { callRef } from "../_runtime/source_refs.ts";
import { type Facts, type Head, isOpen, overdueReason, statusNow } from "../_table/messages.ts";
import { readSession } from "../_table/sessions.ts";
import { get } from "../_table/table.ts";
import { parseReply, replyKey } from "../_table/texts.ts";

/** Calls that a session may still make. */
export async function budgetRemaining(workspace: string, sessionId: string): Promise<number> {
  const session = await readSession(workspace, sessionId);
  return Math.max(0, env().CALLS_PER_SESSION - (session?.calls ?? 0));
}

const failures = {
  failed: ["CALL_FAILED", "The call failed."],
  timed_out: ["CALL_TIMED_OUT", overdueReason({ kind: "call" })],
  cancelled: ["CALL_CANCELLED", "The call was withdrawn."],
} as const;

/**
 * What `call_agent` answers for a call as it is now, and `get_call` too: the reply, 202 while there is none.
 * @param nowMs from before the head was read: by a later clock, a call that was answered in between would look
 *   as if it had timed out
 * @param more.isAwaited a request waits for the reply, so that it comes by no message
 * @param more.extra returns that the tool adds, also to a failure
 * @throws {ToolError} CALL_FAILED, CALL_TIMED_OUT, CALL_CANCELLED
 */
export async function callAnswer(
  workspace: string,
  head: Head,
  budget_remaining: number,
  nowMs: number,
  { isAwaited = false, extra = {} }: { isAwaited?: boolean; extra?: Record<string, unknown> } = {},
) {
  const known = { ...callReturns(head), budget_remaining, ...extra };
  const status = statusNow(head, nowMs);
  switch (status) {
    case "open":
    case "running":
      return { ...pendingAnswer(head, budget_remaining, isAwaited), ...extra };
    case "answered": {
      const reply = parseReply(await get(replyKey(workspace, head.id, head.reply_id ?? "")));
      // Texts are kept as long as their head, so this is no answer that was empty.
      if (reply === undefined) throw new Error(`The reply to ${head.id} is not there.`);
      return { ...known, type: reply.type, content: reply.content, files: reply.files };
    }
    case "failed":
    case "timed_out":
    case "cancelled": {
      const [type, message] = failures[status];
      throw new ToolError(type, head.reason || message, { returns: known });
    }
    default:
      throw new Error(`A call can't be '${status}'.`);
  }
}

/** The reply comes from the agent that was called, to the agent that called (seed 000). */
function callReturns({ id, session_id, user_name, sender, receiver, project_name, task_name }: Facts) {
  return {
    session_id,
    user_name,
    sender: receiver,
    receiver: sender,
    project_name,
    task_name,
    type: "text",
    content: "",
    files: [] as string[],
    call_id: id,
    source_ref: callRef(id),
  };
}

/** No reply yet. It is no success and no failure, and says what to do instead of calling again. */
export function pendingAnswer(call: Facts, budget_remaining: number, isAwaited = false) {
  const msg =
    `${call.receiver} has not answered yet. Do not call again: read the reply later with get_call and call_id ${call.id}` +
    (isAwaited ? ", unless the request that still waits for it gets it." : "; it also comes to you as a message.");
  return { code: 202, msg, ...callReturns(call), budget_remaining };
}

/** The call's state in the words of the wire (design, section 2). */
export function callState(head: Head, wasDelivered: boolean, nowMs: number) {
  const status = statusNow(head, nowMs);
  if (isOpen({ status })) return wasDelivered ? "delivered" : "queued";
  if (status === "answered" || status === "failed" || status === "timed_out" || status === "cancelled") return status;
  throw new Error(`A call can't be '${status}'.`);
}
