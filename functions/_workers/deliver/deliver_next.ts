import { closeMessage } from "../../_delivery/close.ts";
import type { WakeUp } from "../../_delivery/wake_up.ts";
import { env } from "../../_runtime/env.ts";
import type { Log } from "../../_runtime/log.ts";
import { readAgent } from "../../_table/agents.ts";
import { type InboxItem, isAccepted, readGroup } from "../../_table/inbox.ts";
import { attempt, type Handling } from "./attempt.ts";

/**
 * Works off one wake-up: delivers its group's first undelivered message to the receiver's webhook, in one
 * attempt.
 * @returns undefined when the wake-up has done its work, otherwise in how many ms it is to come back
 */
export async function deliverNext(
  { workspace, receiver, session_at }: WakeUp,
  handling: Handling,
  log: Log,
): Promise<number | undefined> {
  const [items, agent] = await Promise.all([
    readGroup(workspace, receiver, session_at),
    readAgent(workspace, receiver),
  ]);
  const now = Date.now();
  // What is past its deadline has ended by the clock; sweep records it.
  const item = items.find((candidate) => !isAccepted(candidate, now) && candidate.deadline_at > now);
  if (item === undefined || agent?.delivery === "inbox") return undefined; // An inbox message waits for receive_messages.
  log.appendKeys({ workspace, message_id: item.id, session_id: item.session_id });
  const hopeless =
    agent === undefined ? "The receiver is no longer registered." : whyHopeless(item, agent.webhook_disabled, now);
  if (agent === undefined || hopeless !== undefined) {
    await closeMessage(workspace, item, {
      status: "failed",
      reason: hopeless ?? "",
      when: "before deadline",
      unlessTaken: true,
    });
    return undefined;
  }
  const notBefore = Math.max(item.claimed_until, item.next_attempt_at, agent.circuit_open_until);
  return notBefore > now ? notBefore - now : attempt(workspace, item, agent, handling, log);
}

function whyHopeless(item: InboxItem, webhookDisabled: boolean, now: number): string | undefined {
  if (webhookDisabled) return "The receiver's webhook is switched off, since it answered 410.";
  const inFlight = item.claimed_until > now;
  if (inFlight || item.attempts.length < env().DELIVERY_ATTEMPTS) return undefined;
  return item.attempts.at(-1)?.outcome ?? "The last delivery attempt was broken off.";
}
