import { type Agent, parseAgent } from "./agents.ts";
import { agentProfile } from "./keys.ts";
import { ConditionFailed, type Item, update } from "./table.ts";

/*
 * What deliveries leave on a receiver's profile: when it was last seen, its deliveries under way, its failures
 * in a row and the circuit that they open.
 */

const seenEveryMs = 60_000;

/** Notes that an agent was here, at most once a minute: a write that nobody waits for costs more often. */
export async function noteSeen(workspace: string, { name, last_seen_at }: Agent, nowMs: number): Promise<void> {
  if (last_seen_at !== undefined && nowMs - last_seen_at < seenEveryMs) return;
  await changeProfile(workspace, name, "SET #last_seen_at = :now", { ":now": nowMs });
}

/** A delivery under way. Its end is in its name, so that one whose worker died does not count for ever. */
export interface Slot {
  messageId: string;
  until: number;
}

const formatSlot = ({ messageId, until }: Slot) => `${until}#${messageId}`;
const slotUntil = (slot: string) => Number(slot.split("#")[0]);
const slotsPerReceiver = 10;

/** Takes one of a receiver's ten deliveries at a time. False when all are under way. */
export async function takeSlot(workspace: string, { name }: Agent, slot: Slot): Promise<boolean> {
  const take = () =>
    update({
      Key: agentProfile(workspace, name),
      UpdateExpression: "ADD #in_flight :slot",
      ConditionExpression: "attribute_exists(PK) AND (attribute_not_exists(#in_flight) OR size(#in_flight) < :most)",
      ExpressionAttributeValues: { ":slot": new Set([formatSlot(slot)]), ":most": slotsPerReceiver },
      ReturnValues: "NONE",
    });
  try {
    await take();
    return true;
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    const taken = parseAgent(error.item)?.in_flight ?? new Set();
    if (taken.has(formatSlot(slot))) return true; // An SDK retry met our own write, whose answer was lost.
    const over = [...taken].filter((each) => slotUntil(each) <= Date.now());
    if (over.length > 0) await changeProfile(workspace, name, "DELETE #in_flight :over", { ":over": new Set(over) });
    return false; // What was freed now is for the next try.
  }
}

const slotValue = (slot: Slot) => ({ ":slot": new Set([formatSlot(slot)]) });

export const freeSlot = (workspace: string, { name }: Agent, slot: Slot) =>
  changeProfile(workspace, name, "DELETE #in_flight :slot", slotValue(slot));

/** A delivery got through: the agent was here, its circuit closes and its last error is over. */
export const noteDelivered = (workspace: string, { name }: Agent, slot: Slot) =>
  changeProfile(
    workspace,
    name,
    "SET #last_seen_at = :now, #failures = :none, #circuit_open_until = :none, #last_delivery_error = :empty DELETE #in_flight :slot",
    { ...slotValue(slot), ":now": Date.now(), ":none": 0, ":empty": "" },
  );

const failuresToOpen = 5;
const circuitOpenMs = 30_000;

/**
 * A delivery failed. After five in a row the circuit opens: the agent's groups are deferred for half a minute,
 * so that one dead agent slows nobody else; then the next attempt may close it. `gone` switches its webhook off.
 */
export async function noteFailure(
  workspace: string,
  { name, webhook_url }: Agent,
  slot: Slot,
  { reason, gone }: { reason: string; gone: boolean },
): Promise<void> {
  if (gone) {
    const values = { ":yes": true, ":url": webhook_url };
    await changeProfile(workspace, name, "SET #webhook_disabled = :yes", values, "#webhook_url = :url");
  }
  const { failures = 0 } = await changeProfile(
    workspace,
    name,
    "SET #last_delivery_error = :reason ADD #failures :one DELETE #in_flight :slot",
    { ...slotValue(slot), ":reason": reason, ":one": 1 },
  );
  // Counted first, since deliveries under way at the same time must see one another's failures.
  if (Number(failures) >= failuresToOpen) {
    const values = { ":until": Date.now() + circuitOpenMs, ":enough": failuresToOpen };
    await changeProfile(workspace, name, "SET #circuit_open_until = :until", values, "#failures >= :enough");
  }
}

/**
 * Changes a profile; an agent that was removed meanwhile has nothing to note, and one that is no longer as
 * `onlyIf` says neither. Answers what was changed, as it is now.
 */
async function changeProfile(
  workspace: string,
  name: string,
  UpdateExpression: string,
  ExpressionAttributeValues: Record<string, unknown>,
  onlyIf?: string,
): Promise<Item> {
  try {
    return await update({
      Key: agentProfile(workspace, name),
      UpdateExpression,
      ConditionExpression: ["attribute_exists(PK)", ...(onlyIf === undefined ? [] : [onlyIf])].join(" AND "),
      ExpressionAttributeValues,
      ReturnValues: "UPDATED_NEW",
    });
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    return {};
  }
}
