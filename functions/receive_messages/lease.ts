import { renderMessages } from "../_delivery/render.ts";
import { answerSize, limits } from "../_runtime/limits.ts";
import type { Message } from "../_runtime/message_schema.ts";
import { iso } from "../_runtime/time.ts";
import { together } from "../_runtime/together.ts";
import { type Repeat, rememberWrites } from "../_table/idempotency.ts";
import { type InboxItem, isAccepted, itemUpdate, unclaimed } from "../_table/inbox.ts";
import { type Attempt, randomPart } from "../_table/messages.ts";
import { ConditionFailed, transact, update } from "../_table/table.ts";

export type Leased = Message & { lease_expires_at: string };

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

/** Leases messages, in order, as many as fit into one answer. */
export async function leaseFitting(
  workspace: string,
  items: readonly InboxItem[],
  repeat: Repeat | undefined,
): Promise<Leased[]> {
  const rendered = await fitting(workspace, items);
  const now = Date.now();
  const leases = rendered.map(({ item, message }) => ({ ...leaseOf(item, now), workspace, item, message }));
  const taken = repeat === undefined ? await takeEach(leases) : await takeAll(leases, repeat);
  return taken.map(({ message, set }) => ({ ...message, lease_expires_at: iso(set.claimed_until) }));
}

/** What a first request leased, for its repeat: those of its messages that are still on lease. */
export async function leasedBefore(workspace: string, items: readonly InboxItem[], effect: string): Promise<Leased[]> {
  const ids = new Set(effect.split(" "));
  const now = Date.now();
  const held = items.filter((item) => ids.has(item.id) && item.leases > 0 && item.claimed_until > now);
  const rendered = await renderEach(workspace, held, (item) => item.leases);
  return rendered.map(({ item, message }) => ({ ...message, lease_expires_at: iso(item.claimed_until) }));
}

async function renderEach(workspace: string, items: readonly InboxItem[], attemptOf: (item: InboxItem) => number) {
  const deliveries = items.map((item) => ({ item, attempt: attemptOf(item) }));
  const messages = await renderMessages(workspace, deliveries);
  return messages.flatMap((message, index) => {
    const item = items[index];
    return item === undefined ? [] : [{ item, message }];
  });
}

async function fitting(workspace: string, items: readonly InboxItem[]) {
  const rendered = await renderEach(workspace, items, (item) => item.leases + 1);
  let bytes = 0;
  const tooMany = rendered.findIndex(({ message }, index) => {
    bytes += answerSize(message);
    return bytes > limits.answerBytes && index > 0;
  });
  return tooMany < 0 ? rendered : rendered.slice(0, tooMany);
}

interface Lease {
  workspace: string;
  item: InboxItem;
  message: Message;
  set: { claimed_until: number; claimed_by: "lease"; claim: string; leases: number; attempts: Attempt[] };
}

function leaseOf(item: InboxItem, now: number) {
  const number = item.attempts.length + 1;
  const attempts = [...item.attempts, { number, started_at: now, ended_at: now, outcome: "leased from the inbox" }];
  const claimed_until = now + limits.leaseMs;
  return {
    set: { claimed_until, claimed_by: "lease" as const, claim: randomPart(), leases: item.leases + 1, attempts },
  };
}

const leaseUpdate = ({ workspace, item, set }: Lease) =>
  itemUpdate(workspace, item, {
    set,
    condition: `size(#attempts) = :before AND #deadline_at > :now AND ${unclaimed}`,
    values: { ":before": item.attempts.length, ":now": Date.now(), ":open": "open" },
  });

/**
 * Each on its own, groups side by side and a group's one after another: a message goes once the one before it was
 * taken, by us or by somebody else. What somebody else took first is left out.
 */
async function takeEach(leases: readonly Lease[]): Promise<Lease[]> {
  const groups = [...Map.groupBy(leases, ({ item }) => item.session_id).values()];
  const taken = new Set((await together(groups.map(takeInOrder))).flat());
  return leases.filter((lease) => taken.has(lease));
}

async function takeInOrder(group: readonly Lease[]): Promise<Lease[]> {
  const taken: Lease[] = [];
  for (const lease of group) if (await takeOne(lease)) taken.push(lease);
  return taken;
}

async function takeOne(lease: Lease): Promise<boolean> {
  try {
    await update({ ...leaseUpdate(lease), ReturnValues: "NONE" });
    return true;
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    return error.item?.claim === lease.set.claim; // An SDK retry may meet our own write, whose answer was lost.
  }
}

/** All or none, with the record that lets a repeat find them. */
async function takeAll(leases: readonly Lease[], repeat: Repeat): Promise<Lease[]> {
  const ids = leases.map(({ item }) => item.id).join(" ");
  if (leases.length === 0) return [];
  try {
    await transact([...leases.map((lease) => ({ Update: leaseUpdate(lease) })), ...rememberWrites(repeat, ids)]);
    return [...leases];
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    return []; // Somebody was first: the next look finds what is left.
  }
}
