import { setTimeout as sleep } from "node:timers/promises";
import { renderMessage } from "../../_delivery/render.ts";
import { type Outcome, postMessage } from "../../_delivery/webhook.ts";
import type { Log } from "../../_runtime/log.ts";
import type { Message } from "../../_runtime/message_schema.ts";
import { count } from "../../_runtime/metrics.ts";
import { together } from "../../_runtime/together.ts";
import type { Agent } from "../../_table/agents.ts";
import { type InboxItem, itemUpdate, unclaimed } from "../../_table/inbox.ts";
import { type Attempt, randomPart } from "../../_table/messages.ts";
import { freeSlot, takeSlot } from "../../_table/receivers.ts";
import { ConditionFailed, update } from "../../_table/table.ts";
import { settle } from "./settle.ts";

/** Time beyond an attempt's own deadline after which its worker must be dead. */
const graceMs = 5_000;
/** Another worker has the message: look again soon. */
const lookAgainMs = 1_000;

/** What the worker may do with its wake-up. */
export interface Handling {
  /** Keeps the wake-up, and its group behind it, away from other workers for that many ms from now. */
  hold: (ms: number) => Promise<void>;
  /** How often it has been received. */
  received: number;
}

/**
 * One delivery attempt, recorded before it is made, so that a lost or doubled wake-up harms nothing.
 * @returns as `deliverNext`
 */
export async function attempt(
  workspace: string,
  item: InboxItem,
  agent: Agent,
  handling: Handling,
  log: Log,
): Promise<number | undefined> {
  const claimedUntil = Date.now() + agent.answer_timeout_s * 1000 + graceMs;
  const slot = { messageId: item.id, until: claimedUntil };
  if (!(await takeSlot(workspace, agent, slot))) return busyReceiverMs(handling);
  try {
    const [claimed, message] = await together([
      claim(workspace, item, claimedUntil),
      renderMessage(workspace, { item, attempt: item.attempts.length + 1 }),
    ]);
    if (claimed === undefined) {
      await freeSlot(workspace, agent, slot);
      return lookAgainMs;
    }
    const outcome = await post(workspace, agent, message, () => holdFor(claimedUntil, handling, log));
    count("Deliveries", "Result", outcome.result);
    log.info("delivery attempt", { attempt: message.attempt, result: outcome.result, http_status: outcome.httpStatus });
    return await settle(workspace, claimed, { agent, slot }, outcome);
  } catch (error) {
    await freeSlot(workspace, agent, slot);
    throw error;
  }
}

/** The receiver has its full number of deliveries under way: back off, so that no wake-up nears its last receive. */
const busyReceiverMs = ({ received }: Handling) => Math.min(30_000, 1_000 * received) * (0.5 + Math.random());

const holdFor = (until: number, { hold }: Handling, log: Log) =>
  hold(until - Date.now()).catch((error: Error) =>
    log.warn("wake-up not held for a slow answer; the queue holds it longer", error),
  );

/** Records the attempt and holds the message for it. Undefined when somebody else did so first. */
async function claim(workspace: string, item: InboxItem, claimed_until: number): Promise<InboxItem | undefined> {
  const number = item.attempts.length + 1;
  const attempts: Attempt[] = [...item.attempts.map(brokenOff(item)), { number, started_at: Date.now() }];
  const claim = randomPart();
  try {
    await update(
      itemUpdate(workspace, item, {
        set: { attempts, claimed_until, claimed_by: "delivery", claim },
        condition: `size(#attempts) = :before AND ${unclaimed}`,
        values: { ":before": item.attempts.length, ":now": Date.now(), ":open": "open" },
      }),
    );
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    // An SDK retry may meet our own write, whose answer was lost: then the claim is ours.
    if (error.item?.claim !== claim) return undefined;
  }
  return { ...item, attempts, claimed_until, claim };
}

/** An earlier attempt without an end: its worker died, or could not note it. */
const brokenOff =
  ({ claimed_until }: InboxItem) =>
  (made: Attempt): Attempt =>
    made.ended_at === undefined ? { ...made, ended_at: claimed_until, outcome: "broken off" } : made;

const quickAnswerMs = 2_000;

/**
 * Posts the message. Only an answer that takes its time is worth a request to SQS: should this worker die,
 * the wake-up then comes back when the attempt's claim is over, not after the queue's long default.
 */
async function post(workspace: string, agent: Agent, message: Message, hold: () => Promise<void>): Promise<Outcome> {
  const posting = postMessage(workspace, agent, message);
  const timer = new AbortController();
  const slow = sleep(quickAnswerMs, "slow" as const, { signal: timer.signal }).catch(() => "stopped" as const);
  if ((await Promise.race([posting, slow])) === "slow") await hold();
  timer.abort();
  return posting;
}
