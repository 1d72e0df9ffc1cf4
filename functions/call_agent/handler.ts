import type * as z from "zod";
import { accept, type NewMessage, textsOf } from "../_delivery/accept.ts";
import { budgetRemaining, callAnswer } from "../_delivery/calls.ts";
import { assertTexts } from "../_runtime/limits.ts";
import { type Context, serve } from "../_runtime/serve.ts";
import { rememberWrites } from "../_table/idempotency.ts";
import { isAwaited, readInboxItem } from "../_table/inbox.ts";
import { randomPart, sessionMessageId } from "../_table/messages.ts";
import { type Reserved, releaseEdge, reserveCall } from "../_table/sessions.ts";
import { putAll } from "../_table/table.ts";
import type { WaitEdge } from "../_table/wait_edges.ts";
import { contract } from "./contract.ts";
import { assertMayCall, chainDepth, readSituation, type Situation } from "./rules.ts";
import { answerNow, readKnownCall, waitForReply } from "./waiting.ts";

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
    await putAll(textsOf(context.workspace, [message]));
    await accept(context.workspace, [message], rememberWrites(context.repeat, message.facts.id));
  } catch (error) {
    if (edge !== undefined) await releaseEdge(context.workspace, input.session_id, input.sender, edge);
    throw error;
  }
  context.log.appendKeys({ call_id: message.facts.id });
  const ended = edge && (await waitForReply(context, message.facts, edge));
  return answerNow(context.workspace, message.facts, ended, reserved.budgetRemaining);
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
    has_files: (input.files ?? []).length > 0,
    depth: chainDepth(senderItems) + 1,
    ...(edge && { waiting_until: edge.until }),
  };
  return { facts, receiver, content: input.content, files: input.files ?? [] };
}

/** A repeat gets the call as it is now: 202 first, the reply later. */
async function stateNow({ workspace }: Context, callId: string) {
  const now = Date.now();
  const head = await readKnownCall(workspace, callId);
  const [budget, item] = await Promise.all([
    budgetRemaining(workspace, head.session_id),
    readInboxItem(workspace, head),
  ]);
  return callAnswer(workspace, head, budget, now, { isAwaited: isAwaited(item) });
}
