import type { NewMessage } from "../_delivery/accept.ts";
import { callAnswer, pendingAnswer } from "../_delivery/calls.ts";
import { closeMessage } from "../_delivery/close.ts";
import type { Context } from "../_runtime/serve.ts";
import { waitFor } from "../_runtime/time.ts";
import { itemUpdate, readInboxItem } from "../_table/inbox.ts";
import { type Head, isOpen, overdueReason, readHead } from "../_table/messages.ts";
import { releaseEdge } from "../_table/sessions.ts";
import { ConditionFailed, update } from "../_table/table.ts";
import type { WaitEdge } from "../_table/wait_edges.ts";

type Facts = NewMessage["facts"];

/**
 * Waits until the call has ended, or the wait or the call is over by the clock.
 * @returns how it ended; undefined when it is still open
 */
export async function waitForReply(
  { workspace, wait }: Context,
  facts: Facts,
  edge: WaitEdge,
): Promise<Head | undefined> {
  const look = async () => {
    const head = await readKnownCall(workspace, facts.id);
    return isOpen(head) ? undefined : head;
  };
  const ended = await waitFor(Math.min(wait.until, facts.deadline_at), look, "soon");
  if (ended !== undefined) return ended;
  if (facts.deadline_at <= Date.now()) await timeOut(workspace, facts);
  else if (await endWait(workspace, facts, edge)) return undefined;
  return readKnownCall(workspace, facts.id);
}

/** The call is over by the clock while its sender looks on: it is told here, and by no message. */
async function timeOut(workspace: string, facts: Facts): Promise<void> {
  const item = await readInboxItem(workspace, facts);
  if (item === undefined) return;
  const reason = overdueReason(facts);
  await closeMessage(workspace, item, { status: "timed_out", reason, when: "after deadline", senderKnows: true });
}

/**
 * The sender waits no longer: from here on the reply goes to it as a message. False when the call has ended at
 * this very moment; then its head has the answer.
 */
async function endWait(workspace: string, facts: Facts, edge: WaitEdge): Promise<boolean> {
  const change = { remove: ["waiting_until"], condition: "attribute_exists(#waiting_until)" };
  try {
    await update({ ...itemUpdate(workspace, facts, change), ReturnValues: "NONE" });
  } catch (error) {
    if (error instanceof ConditionFailed) return false;
    throw error;
  }
  await releaseEdge(workspace, facts.session_id, facts.sender, edge);
  return true;
}

/** What the sender of a new call hears. @param ended how it ended while the sender waited */
export function answerNow(workspace: string, facts: Facts, ended: Head | undefined, budgetRemaining: number) {
  // Whoever ended the call may have seen the wait as over first: then the end goes out as a message, and is not
  // told here as well.
  const untold = ended === undefined || ended.told_sender;
  return untold ? pendingAnswer(facts, budgetRemaining) : callAnswer(workspace, ended, budgetRemaining, Date.now());
}

/** The head of a call that was accepted. */
export async function readKnownCall(workspace: string, callId: string): Promise<Head> {
  const head = await readHead(workspace, callId, "call");
  if (head === undefined) throw new Error(`Call ${callId} has no head.`);
  return head;
}
