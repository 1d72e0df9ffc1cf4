import type * as z from "zod";
import { accept, type NewMessage } from "../_delivery/accept.ts";
import { budgetRemaining, callAnswer } from "../_delivery/calls.ts";
import { assertTexts } from "../_runtime/limits.ts";
import { type Context, serve } from "../_runtime/serve.ts";
import { waitFor } from "../_runtime/time.ts";
import { effectOfWinner, rememberWrites } from "../_table/idempotency.ts";
import { itemUpdate, readInboxItem } from "../_table/inbox.ts";
import { type Head, randomPart, readHead, sessionMessageId } from "../_table/messages.ts";
import { type Reserved, releaseEdge, reserveCall } from "../_table/sessions.ts";
import { ConditionFailed, update } from "../_table/table.ts";
import type { WaitEdge } from "../_table/wait_edges.ts";
import { contract } from "./contract.ts";
import { assertMayCall, chainDepth, readSituation, type Situation } from "./rules.ts";

type Input = z.output<typeof contract.input>;

export const handler = serve(contract, async (input, context) => {
  if (context.repeat?.effect !== undefined) return stateNow(context, context.repeat.effect);
  assertTexts(input.content, input.files ?? []);
  const situation = await readSituation(context.workspace, input);
  assertMayCall(situation, input);
  const edge = edgeOf(input, context);
  const reserved = await reserveCall(reservation(input, context, edge), situation.session);
  const message = newCall(input, situation, reserved, edge);
  try {
    await accept(context.workspace, [message], rememberWrites(context.repeat, message.facts.id));
  } catch (error) {
    if (edge !== undefined) await releaseEdge(context.workspace, input.session_id, input.sender, edge);
    const winner = error instanceof ConditionFailed ? await effectOfWinner(context.repeat) : undefined;
    if (winner === undefined) throw error;
    return stateNow(context, winner);
  }
  context.log.appendKeys({ call_id: message.facts.id });
  return waitForReply(context, message, reserved.budgetRemaining, edge);
});

const edgeOf = ({ receiver }: Input, { wait }: Context): WaitEdge | undefined =>
  wait.until > Date.now() ? { receiver, until: wait.until, random: randomPart() } : undefined;

const reservation = (
  { session_id, user_name, sender, receiver }: Input,
  { workspace }: Context,
  edge: WaitEdge | undefined,
) => ({
  workspace,
  sessionId: session_id,
  userName: user_name,
  sender,
  receiver,
  edge,
});

const defaultDeadlineS = 900;

function newCall(
  input: Input,
  { sender, receiver, senderItems }: Situation,
  { seq }: Reserved,
  edge: WaitEdge | undefined,
) {
  const sent_at = Date.now();
  const deadline_s = input.deadline_s ?? defaultDeadlineS;
  const facts: NewMessage["facts"] = {
    id: sessionMessageId("call", input.session_id, seq, edge?.random),
    kind: "call",
    session_id: input.session_id,
    seq,
    user_name: input.user_name,
    sender: sender.name,
    receiver: receiver.name,
    project_name: input.project_name,
    task_name: input.task_name,
    sent_at,
    deadline_s,
    deadline_at: sent_at + deadline_s * 1000,
    depth: chainDepth(senderItems) + 1,
    ...(edge && { waiting_until: edge.until }),
  };
  return { facts, receiver, content: input.content, files: input.files ?? [] };
}

/** A repeat gets the call as it is now: 202 first, the reply later. */
async function stateNow({ workspace }: Context, callId: string) {
  const head = await mustHaveHead(workspace, callId);
  return callAnswer(workspace, head, await budgetRemaining(workspace, head.session_id));
}

async function mustHaveHead(workspace: string, callId: string): Promise<Head> {
  const head = await readHead(workspace, callId, "call");
  if (head === undefined) throw new Error(`Call ${callId} has no head.`);
  return head;
}

/** Waits until the inbox item is gone, which is how a call ends, or the wait or the call is over by the clock. */
async function waitForReply(
  { workspace, wait }: Context,
  { facts }: NewMessage,
  budget: number,
  edge: WaitEdge | undefined,
) {
  if (edge !== undefined) {
    const ended = await waitFor(Math.min(wait.until, facts.deadline_at), async () =>
      (await readInboxItem(workspace, facts)) === undefined ? true : undefined,
    );
    if (ended === undefined) await endWait(workspace, facts, edge);
  }
  const head = await mustHaveHead(workspace, facts.id);
  // Where the replier saw the wait as over first, the reply went out as a message and is not given here as well.
  const told: Head = { ...head, status: "open" };
  return callAnswer(workspace, head.told_sender && head.status === "answered" ? told : head, budget);
}

/**
 * The sender waits no longer: from here on the reply goes to it as a message. Refused when the call has ended
 * at this very moment; then its head has the answer.
 */
async function endWait(workspace: string, facts: NewMessage["facts"], edge: WaitEdge): Promise<void> {
  try {
    await update(
      itemUpdate(workspace, facts, { remove: ["waiting_until"], condition: "attribute_exists(#waiting_until)" }),
    );
    await releaseEdge(workspace, facts.session_id, facts.sender, edge);
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
  }
}
