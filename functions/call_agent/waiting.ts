import type { NewMessage } from "../_delivery/accept.ts";
import { callAnswer } from "../_delivery/calls.ts";
import { closeMessage } from "../_delivery/close.ts";
import type { Context } from "../_runtime/serve.ts";
import { waitFor } from "../_runtime/time.ts";
import { itemUpdate, readInboxItem } from "../_table/inbox.ts";
import { type Head, readHead } from "../_table/messages.ts";
import { releaseEdge } from "../_table/sessions.ts";
import { ConditionFailed, update } from "../_table/table.ts";
import type { WaitEdge } from "../_table/wait_edges.ts";

type Facts = NewMessage["facts"];

/** Waits until the inbox item is gone, which is how a call ends, or the wait or the call is over by the clock. */
export async function waitForReply({ workspace, wait }: Context, facts: Facts, edge: WaitEdge): Promise<void> {
  const ended = await waitFor(Math.min(wait.until, facts.deadline_at), async () =>
    (await readInboxItem(workspace, facts)) === undefined ? true : undefined,
  );
  if (ended) return;
  if (facts.deadline_at <= Date.now()) await timeOut(workspace, facts);
  else await endWait(workspace, facts, edge);
}

/** The call is over by the clock while its sender looks on: it is told here, and by no message. */
async function timeOut(workspace: string, facts: Facts): Promise<void> {
  const item = await readInboxItem(workspace, facts);
  if (item === undefined) return;
  const reason = "No answer came before the deadline.";
  await closeMessage(workspace, item, { status: "timed_out", reason, when: "after deadline", senderKnows: true });
}

/**
 * The sender waits no longer: from here on the reply goes to it as a message. Refused when the call has ended
 * at this very moment; then its head has the answer.
 */
async function endWait(workspace: string, facts: Facts, edge: WaitEdge): Promise<void> {
  try {
    await update(
      itemUpdate(workspace, facts, { remove: ["waiting_until"], condition: "attribute_exists(#waiting_until)" }),
    );
    await releaseEdge(workspace, facts.session_id, facts.sender, edge);
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
  }
}

/** What a call's sender hears after waiting. */
export async function answerNow(workspace: string, callId: string, budgetRemaining: number) {
  const head = await readKnownCall(workspace, callId);
  // Whoever ended the call saw the wait as over first: the end goes out as a message, so it is not told here as well.
  const untold: Head = { ...head, status: "open", deadline_at: Number.POSITIVE_INFINITY };
  return callAnswer(workspace, head.told_sender ? untold : head, budgetRemaining);
}

/** The head of a call that was accepted. */
export async function readKnownCall(workspace: string, callId: string): Promise<Head> {
  const head = await readHead(workspace, callId, "call");
  if (head === undefined) throw new Error(`Call ${callId} has no head.`);
  return head;
}
