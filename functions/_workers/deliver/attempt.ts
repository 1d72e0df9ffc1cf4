import { setTimeout as sleep } from "node:timers/promises";
import { renderMessage } from "../../_delivery/render.ts";
import { type Outcome, postMessage } from "../../_delivery/webhook.ts";
import type { Log } from "../../_runtime/log.ts";
import type { Message } from "../../_runtime/message_schema.ts";
import { count } from "../../_runtime/metrics.ts";
import type { Agent } from "../../_table/agents.ts";
import { type InboxItem, itemUpdate } from "../../_table/inbox.ts";
import { type Attempt, randomPart } from "../../_table/messages.ts";
import { freeSlot, takeSlot } from "../../_table/receivers.ts";
import { ConditionFailed, update } from "../../_table/table.ts";
import { settle } from "./settle.ts";

/** Time beyond an attempt's own deadline after which its worker must be dead. */
const graceMs = 5_000;
/** Room for others when the receiver has its full number of deliveries under way. */
const busyReceiverMs = 1_000;

/**
 * One delivery attempt, recorded before it is made, so that a lost or doubled wake-up harms nothing.
 * @returns as `deliverNext`
 */
export async function attempt(
  workspace: string,
  item: InboxItem,
  agent: Agent,
  hold: (ms: number) => Promise<void>,
  log: Log,
): Promise<number | undefined> {
  const claimedUntil = Date.now() + agent.answer_timeout_s * 1000 + graceMs;
  const slot = { messageId: item.id, until: claimedUntil };
  if (!(await takeSlot(workspace, agent, slot))) return busyReceiverMs * (1 + Math.random());
  const [claimed, message] = await Promise.all([
    claim(workspace, item, claimedUntil),
    renderMessage(workspace, item, item.attempts.length + 1),
  ]);
  if (claimed === undefined) {
    await freeSlot(workspace, agent, slot);
    return busyReceiverMs; // Another worker has the message: look again when it is through.
  }
  const outcome = await post(workspace, agent, message, claimedUntil, hold);
  count("Deliveries", "Result", outcome.result);
  log.info("delivery attempt", { attempt: message.attempt, result: outcome.result, http_status: outcome.httpStatus });
  return settle(workspace, claimed, { agent, slot }, outcome);
}

/** Records the attempt and holds the message for it. Undefined when somebody else did so first. */
async function claim(workspace: string, item: InboxItem, claimed_until: number): Promise<InboxItem | undefined> {
  const attempts: Attempt[] = [...item.attempts, { number: item.attempts.length + 1, started_at: Date.now() }];
  const claim = randomPart();
  try {
    await update(
      itemUpdate(workspace, item, {
        set: { attempts, claimed_until, claim },
        condition: "size(#attempts) = :before AND attribute_not_exists(#accepted_at)",
        values: { ":before": item.attempts.length },
      }),
    );
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    // An SDK retry may meet our own write, whose answer was lost: then the claim is ours.
    if (error.item?.claim !== claim) return undefined;
  }
  return { ...item, attempts, claimed_until, claim };
}

const quickAnswerMs = 2_000;

/**
 * Posts the message. Only an answer that takes its time is worth a request to SQS: should this worker die,
 * the wake-up then comes back when the attempt's claim is over, not after the queue's long default.
 */
async function post(
  workspace: string,
  agent: Agent,
  message: Message,
  claimedUntil: number,
  hold: (ms: number) => Promise<void>,
): Promise<Outcome> {
  const posting = postMessage(workspace, agent, message);
  const timer = new AbortController();
  const slow = sleep(quickAnswerMs, "slow" as const, { signal: timer.signal }).catch(() => "stopped" as const);
  if ((await Promise.race([posting, slow])) === "slow") await hold(claimedUntil - Date.now());
  timer.abort();
  return posting;
}
