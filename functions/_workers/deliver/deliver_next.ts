import { closeMessage } from "../../_delivery/close.ts";
import { renderMessage } from "../../_delivery/render.ts";
import type { WakeUp } from "../../_delivery/wake_up.ts";
import { type Outcome, postMessage } from "../../_delivery/webhook.ts";
import { env } from "../../_runtime/env.ts";
import type { Log } from "../../_runtime/log.ts";
import { type Agent, noteDelivered, noteFailure, readAgent } from "../../_table/agents.ts";
import { type InboxItem, isAccepted, itemUpdate, readGroup } from "../../_table/inbox.ts";
import { type Attempt, keepRefusedReply } from "../../_table/messages.ts";
import { ConditionFailed, update } from "../../_table/table.ts";

/** Time beyond an attempt's own deadline after which its worker must be dead. */
const graceMs = 5_000;

/**
 * Delivers a group's first undelivered message to its receiver's webhook: one attempt, recorded before it is
 * made, so that a lost or doubled wake-up harms nothing.
 * @returns undefined when the wake-up has done its work, otherwise in how many ms it is to come back
 */
export async function deliverNext({ workspace, receiver, session_at }: WakeUp, log: Log): Promise<number | undefined> {
  const [items, agent] = await Promise.all([
    readGroup(workspace, receiver, session_at),
    readAgent(workspace, receiver),
  ]);
  const now = Date.now();
  // What is past its deadline has ended by the clock; sweep records it.
  const item = items.find((candidate) => !isAccepted(candidate, now) && candidate.deadline_at > now);
  if (item === undefined) return undefined;
  if (agent === undefined) return give(up(workspace, item, "The receiver is no longer registered."));
  if (agent.delivery === "inbox") return undefined; // It waits for receive_messages.
  log.appendKeys({ workspace, message_id: item.id, session_id: item.session_id });
  const notBefore = Math.max(item.claimed_until, item.next_attempt_at, agent.circuit_open_until);
  if (notBefore > now) return notBefore - now;
  if (agent.webhook_disabled)
    return give(up(workspace, item, "The receiver's webhook is switched off (it answered 410)."));
  if (item.attempts.length >= env().DELIVERY_ATTEMPTS) return give(up(workspace, item, lastReason(item)));
  return attempt(workspace, item, agent, log);
}

const give = async (ending: Promise<unknown>) => {
  await ending;
  return undefined;
};

const up = (workspace: string, item: InboxItem, reason: string) =>
  closeMessage(workspace, item, { status: "failed", reason, when: "any time" });

const lastReason = ({ attempts }: InboxItem) => attempts.at(-1)?.outcome ?? "The last delivery attempt was broken off.";

async function attempt(workspace: string, item: InboxItem, agent: Agent, log: Log): Promise<number | undefined> {
  const claimed = await claim(workspace, item, agent);
  if (claimed === undefined) return 1_000; // Another worker has it: look again when its wake-up is through.
  const message = await renderMessage(workspace, claimed, claimed.attempts.length);
  const outcome = await postMessage(workspace, agent, message);
  log.info("delivery attempt", {
    attempt: claimed.attempts.length,
    result: outcome.result,
    http_status: outcome.httpStatus,
  });
  return settle(workspace, claimed, agent, outcome);
}

/** Records the attempt and holds the message for it. Undefined when somebody else did so first. */
async function claim(workspace: string, item: InboxItem, agent: Agent): Promise<InboxItem | undefined> {
  const now = Date.now();
  const attempts: Attempt[] = [...item.attempts, { number: item.attempts.length + 1, started_at: now }];
  const claimed_until = now + agent.answer_timeout_s * 1000 + graceMs;
  try {
    await update(
      itemUpdate(workspace, item, {
        set: { attempts, claimed_until },
        condition: "size(#attempts) = :before AND attribute_not_exists(#accepted_at)",
        values: { ":before": item.attempts.length },
      }),
    );
  } catch (error) {
    // An SDK retry may meet our own write: its answer was lost, but the claim is ours.
    if (!(error instanceof ConditionFailed)) throw error;
    if (error.item?.claimed_until !== claimed_until) return undefined;
  }
  return { ...item, attempts, claimed_until };
}

async function settle(workspace: string, item: InboxItem, agent: Agent, outcome: Outcome): Promise<number | undefined> {
  const ended = { ...item, attempts: withEnd(item, outcome) };
  switch (outcome.result) {
    case "answered":
    case "accepted":
      await Promise.all([taken(workspace, item, ended, outcome), noteDelivered(workspace, agent, Date.now())]);
      return undefined;
    case "refused":
      await save(workspace, ended, {});
      await noteFailure(workspace, agent, outcome.reason, { gone: outcome.gone === true });
      await up(workspace, ended, outcome.reason);
      return undefined;
    case "try again":
      await noteFailure(workspace, agent, outcome.reason, { gone: false });
      return tryLater(workspace, ended, outcome);
  }
}

const isNotice = ({ about }: InboxItem) => about !== undefined;

/** The receiver has it. A notice has done its work then; an answer ends a call or a task. */
async function taken(
  workspace: string,
  item: InboxItem,
  ended: InboxItem,
  outcome: Extract<Outcome, { result: "answered" | "accepted" }>,
): Promise<void> {
  if (isNotice(item)) {
    await closeMessage(workspace, ended, { status: "told", when: "any time" });
    return;
  }
  if (outcome.result === "accepted") {
    await save(workspace, ended, { accepted_at: Date.now(), claimed_until: 0 });
    return;
  }
  const reply = { ...outcome.answer, sender: item.receiver, received_at: Date.now() };
  const status = item.kind === "task" ? "done" : "answered";
  const closed = await closeMessage(workspace, ended, { status, reply, when: "before deadline" });
  if (!closed) await keepRefusedReply(workspace, item.id, { ...reply, refused: "It came after the end." });
}

async function tryLater(
  workspace: string,
  item: InboxItem,
  outcome: Extract<Outcome, { result: "try again" }>,
): Promise<number | undefined> {
  const { DELIVERY_ATTEMPTS, RETRY_BASE_MS } = env();
  const backOff = RETRY_BASE_MS * 2 ** (item.attempts.length - 1);
  const waitMs = Math.max(outcome.retryAfterMs ?? 0, backOff * (0.75 + Math.random() / 2));
  const next_attempt_at = Date.now() + waitMs;
  const isLast = item.attempts.length >= DELIVERY_ATTEMPTS || next_attempt_at >= item.deadline_at;
  await save(workspace, item, { next_attempt_at, claimed_until: 0 });
  if (!isLast) return waitMs;
  await up(workspace, item, outcome.reason);
  return undefined;
}

function withEnd({ attempts }: InboxItem, outcome: Outcome): Attempt[] {
  const words = { answered: "answered", accepted: "accepted" } as const;
  const text = outcome.result === "answered" || outcome.result === "accepted" ? words[outcome.result] : outcome.reason;
  const end = {
    ended_at: Date.now(),
    outcome: text,
    ...(outcome.httpStatus !== undefined && { http_status: outcome.httpStatus }),
  };
  return attempts.map((made, index) => (index === attempts.length - 1 ? { ...made, ...end } : made));
}

/** Notes what came of the attempt; a message that ended meanwhile has nothing left to note. */
async function save(workspace: string, item: InboxItem, set: Record<string, unknown>): Promise<void> {
  try {
    await update(
      itemUpdate(workspace, item, {
        set: { attempts: item.attempts, ...set },
        condition: "size(#attempts) = :count",
        values: { ":count": item.attempts.length },
      }),
    );
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
  }
}
