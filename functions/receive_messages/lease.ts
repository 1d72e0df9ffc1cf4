import { renderMessage } from "../_delivery/render.ts";
import { limits } from "../_runtime/limits.ts";
import type { Message } from "../_runtime/message_schema.ts";
import { iso } from "../_runtime/time.ts";
import { type InboxItem, isAccepted, itemUpdate } from "../_table/inbox.ts";
import { ConditionFailed, update } from "../_table/table.ts";

type Leased = Message & { lease_expires_at: string };

/** Free for a lease: not held, not past its deadline, not given out too often. */
const isFree = (item: InboxItem, now: number) =>
  !isAccepted(item, now) && item.claimed_until <= now && item.deadline_at > now && item.leases < limits.leases;

/** Given out five times and never answered: its last lease is over. */
export const isExhausted = (item: InboxItem, now: number) =>
  item.leases >= limits.leases && item.claimed_until <= now && item.status === "open" && item.accepted_at === undefined;

/** What may be received now: each group in its order, and of all groups' next ones the oldest first. */
export function available(items: readonly InboxItem[], now: number): InboxItem[] {
  const groups = [
    ...Map.groupBy(
      items.filter((item) => isFree(item, now)),
      ({ session_id }) => session_id,
    ).values(),
  ];
  const next: InboxItem[] = [];
  for (;;) {
    const oldest = groups
      .filter((group) => group.length > 0)
      .sort((a, b) => sentAt(a) - sentAt(b))[0]
      ?.shift();
    if (oldest === undefined) return next;
    next.push(oldest);
  }
}

const sentAt = ([first]: readonly InboxItem[]) => first?.sent_at ?? 0;

/** An answer must stay below the 6 MB that the gateway passes on, however much its texts grow as JSON. */
const answerBytes = 3 * 1024 * 1024;

/** Leases messages, in order, as long as they fit into one answer. */
export async function leaseFitting(workspace: string, items: readonly InboxItem[]): Promise<Leased[]> {
  const leased: Leased[] = [];
  let bytes = 0;
  for (const item of items) {
    const message = await renderMessage(workspace, item, item.leases + 1);
    bytes += Buffer.byteLength(JSON.stringify(message));
    if (bytes > answerBytes && leased.length > 0) break;
    const until = await takeLease(workspace, item);
    if (until !== undefined) leased.push({ ...message, lease_expires_at: iso(until) });
  }
  return leased;
}

/** Until when (ms) the message is ours; undefined when somebody else was first. */
async function takeLease(workspace: string, item: InboxItem): Promise<number | undefined> {
  const now = Date.now();
  const claimed_until = now + limits.leaseMs;
  const number = item.attempts.length + 1;
  const attempts = [...item.attempts, { number, started_at: now, ended_at: now, outcome: "leased from the inbox" }];
  try {
    await update(
      itemUpdate(workspace, item, {
        set: { claimed_until, leases: item.leases + 1, attempts },
        condition: "size(#attempts) = :before AND #deadline_at > :now",
        values: { ":before": item.attempts.length, ":now": now },
      }),
    );
    return claimed_until;
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    // An SDK retry may meet our own write, whose answer was lost.
    return error.item?.claimed_until === claimed_until ? claimed_until : undefined;
  }
}
