import { closeMessage } from "../../_delivery/close.ts";
import type { Outcome } from "../../_delivery/webhook.ts";
import { env } from "../../_runtime/env.ts";
import { together } from "../../_runtime/together.ts";
import type { Agent } from "../../_table/agents.ts";
import { type InboxItem, itemUpdate } from "../../_table/inbox.ts";
import type { Attempt } from "../../_table/messages.ts";
import { noteDelivered, noteFailure, type Slot } from "../../_table/receivers.ts";
import { ConditionFailed, update } from "../../_table/table.ts";
import { keepRefusedReply } from "../../_table/texts.ts";

type Taken = Extract<Outcome, { result: "answered" | "accepted" }>;
type Failed = Exclude<Outcome, Taken>;

/**
 * Draws the consequences of an attempt: for the message, and for what is known of its receiver.
 * @returns undefined when the wake-up has done its work, otherwise in how many ms the next attempt is due
 */
export async function settle(
  workspace: string,
  item: InboxItem,
  delivery: { agent: Agent; slot: Slot },
  outcome: Outcome,
): Promise<number | undefined> {
  const ended = { ...item, attempts: withEnd(item, outcome) };
  const { agent, slot } = delivery;
  if (outcome.result === "answered" || outcome.result === "accepted") {
    await together([taken(workspace, ended, outcome), noteDelivered(workspace, agent, slot)]);
    return undefined;
  }
  const { reason, result } = outcome;
  const [next] = await together([
    failed(workspace, ended, outcome),
    noteFailure(workspace, agent, slot, { reason, gone: result === "refused" && outcome.gone === true }),
  ]);
  return next;
}

/** The receiver has it. A notice has done its work then; an answer ends a call or a task. */
async function taken(workspace: string, item: InboxItem, outcome: Taken): Promise<void> {
  if (item.about !== undefined) {
    await closeMessage(workspace, item, { status: "told", when: "any time" });
    return;
  }
  if (outcome.result === "accepted") return save(workspace, item, { accepted_at: Date.now(), claimed_until: 0 });
  const reply = { ...outcome.answer, sender: item.receiver, received_at: Date.now() };
  const status = item.kind === "task" ? "done" : "answered";
  const closed = await closeMessage(workspace, item, { status, reply, when: "before deadline" });
  if (!closed) await keepRefusedReply(workspace, item.id, { ...reply, refused: "It came after the end." });
}

/** Another attempt when there is one left and it comes before the deadline; otherwise the end, with the reason. */
async function failed(workspace: string, item: InboxItem, outcome: Failed): Promise<number | undefined> {
  const { DELIVERY_ATTEMPTS, RETRY_BASE_MS } = env();
  const backOffMs = RETRY_BASE_MS * 2 ** (item.attempts.length - 1) * (0.75 + Math.random() / 2);
  const waitMs = Math.max(outcome.result === "try again" ? (outcome.retryAfterMs ?? 0) : 0, backOffMs);
  const next_attempt_at = Date.now() + waitMs;
  const more = item.attempts.length < DELIVERY_ATTEMPTS && next_attempt_at < item.deadline_at;
  if (outcome.result === "try again" && more) {
    await save(workspace, item, { next_attempt_at, claimed_until: 0 });
    return waitMs;
  }
  const { reason } = outcome;
  await closeMessage(workspace, item, { status: "failed", reason, when: "before deadline", unlessTaken: true });
  return undefined;
}

function withEnd({ attempts }: InboxItem, outcome: Outcome): Attempt[] {
  const text = outcome.result === "answered" || outcome.result === "accepted" ? outcome.result : outcome.reason;
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
        condition: "#claim = :claim",
        values: { ":claim": item.claim },
      }),
    );
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
  }
}
