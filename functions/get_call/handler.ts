import { budgetRemaining, callAnswer, callState } from "../_delivery/calls.ts";
import { ToolError } from "../_runtime/errors.ts";
import { answerSize, limits } from "../_runtime/limits.ts";
import { serve } from "../_runtime/serve.ts";
import { iso } from "../_runtime/time.ts";
import { readAgent } from "../_table/agents.ts";
import { type InboxItem, isAccepted, isAwaited, readInboxItem } from "../_table/inbox.ts";
import { fold } from "../_table/keys.ts";
import { type Head, isOpen, overdueReason, readHead, statusNow } from "../_table/messages.ts";
import { readRefusedReplies } from "../_table/texts.ts";
import { contract } from "./contract.ts";

export const handler = serve(contract, async ({ call_id, agent_name }, { workspace }) => {
  const now = Date.now();
  const head = await readHead(workspace, call_id, "call");
  const isParty = head && [head.sender, head.receiver].some((party) => fold(party) === fold(agent_name));
  // A call of others is answered as one that doesn't exist.
  if (!head || !isParty) throw new ToolError("CALL_NOT_FOUND", `There is no such call of ${agent_name}.`);
  const [item, refused, budget] = await Promise.all([
    isOpen(head) ? readInboxItem(workspace, head) : undefined,
    readRefusedReplies(workspace, call_id),
    budgetRemaining(workspace, head.session_id),
  ]);
  const extra = {
    ...(await whereItIs(workspace, head, item, now)),
    late_replies: asManyAsFit(
      refused.map((reply) => ({
        sender: reply.sender,
        content: reply.content,
        received_at: iso(reply.received_at),
        reason: reply.refused ?? "",
      })),
    ),
  };
  return callAnswer(workspace, head, budget, now, { isAwaited: isAwaited(item), extra });
});

/** Anybody who knows a call's id can make it longer: what no longer fits into one answer is left out. */
function asManyAsFit<T>(late: readonly T[]): T[] {
  let bytes = 0;
  return late.filter((reply) => {
    bytes += answerSize(reply);
    return bytes <= limits.answerBytes;
  });
}

async function whereItIs(workspace: string, head: Head, item: InboxItem | undefined, now: number) {
  const attempts = item?.attempts ?? head.attempts;
  const state = callState(head, item !== undefined && wasDelivered(item), now);
  return {
    status: state,
    reason: state === "timed_out" && head.reason === "" ? overdueReason(head) : head.reason,
    created_at: iso(head.sent_at),
    deadline_at: iso(head.deadline_at),
    attempts: attempts.map(({ number, started_at, ended_at, outcome, http_status }) => ({
      number,
      started_at: iso(started_at),
      ended_at: iso(ended_at),
      outcome: outcome ?? "",
      http_status: http_status ?? 0,
    })),
    ...(item !== undefined && isOpen({ status: statusNow(head, now) }) ? await next(workspace, item, now) : {}),
  };
}

const wasDelivered = ({ accepted_at, leases }: InboxItem) => accepted_at !== undefined || leases > 0;

/** What happens to an open call next, in words, and when. */
async function next(workspace: string, item: InboxItem, now: number) {
  const receiver = await readAgent(workspace, item.receiver);
  const waits = (action: string, at: number) => ({ next_action: action, next_at: iso(at) });
  if (isAccepted(item, now)) {
    return item.accepted_at !== undefined
      ? waits("The receiver has taken it and answers with reply_call; otherwise it times out.", item.deadline_at)
      : waits("The receiver has it on lease; unanswered, it comes to the receiver again.", item.claimed_until);
  }
  if (receiver === undefined || receiver.webhook_disabled)
    return waits("Its receiver can't be reached any more: it is about to fail.", now);
  if (receiver.delivery === "inbox")
    return waits("It waits in the inbox for receive_messages; otherwise it times out.", item.deadline_at);
  if (item.claimed_until > now) return waits("It is being delivered; the attempt ends by then.", item.claimed_until);
  if (receiver.circuit_open_until > now)
    return waits("The receiver fails at present; delivery is deferred.", receiver.circuit_open_until);
  if (item.next_attempt_at > now) return waits("It is delivered again.", item.next_attempt_at);
  return waits("It is delivered as soon as earlier messages of its group are through.", now);
}
