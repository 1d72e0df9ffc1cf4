import * as z from "zod";
import { type Agent, parseAgent } from "./agents.ts";
import {
  agentProfile,
  fold,
  groupPrefix,
  inboxPrefix,
  inboxItem as keyOf,
  sessionDigest,
  todosIndex,
  todosIndexSort,
} from "./keys.ts";
import { attempt, type Facts, facts } from "./messages.ts";
import { get, type Item, queryPrefix, type Write } from "./table.ts";

/** An open message in its receiver's partition: what `deliver`, inbox agents and waiters work with. */
const inboxItem = facts.extend({
  status: z.enum(["open", "running"]),
  deadline_at: z.number(),
  /** The sender waits for the answer until then (ms); absent when it does not, or no longer. */
  waiting_until: z.number().optional(),
  attempts: z.array(attempt).default([]),
  /** A delivery or a lease holds the message until then (ms). */
  claimed_until: z.number().default(0),
  /** Which of the two it is. */
  claimed_by: z.enum(["delivery", "lease"]).optional(),
  /** Tells one claim from another. */
  claim: z.string().optional(),
  /** When the receiver took it: a webhook's 2xx. */
  accepted_at: z.number().optional(),
  leases: z.number().default(0),
  /** Not before then (ms): the back-off after a failed attempt. */
  next_attempt_at: z.number().default(0),
});
export type InboxItem = z.output<typeof inboxItem>;

const parse = (item: Item) => inboxItem.parse(item);

const keyOfItem = (workspace: string, { receiver, session_id, seq }: Pick<Facts, "receiver" | "session_id" | "seq">) =>
  keyOf(workspace, receiver, sessionDigest(session_id), seq);

/** A todo asks its receiver for something. Any todo, past its deadline excepted, means busy. */
export const isTodo = (item: InboxItem, nowMs: number) => item.about === undefined && item.deadline_at > nowMs;

/** Whether the sender of a call waits for its answer, so that the answer goes nowhere else. */
export const isAwaited = (item: InboxItem | undefined) => (item?.waiting_until ?? 0) > Date.now();

/** Whether the receiver has taken the message, so that the next one of its group may go. */
export const isAccepted = (item: InboxItem, nowMs: number) =>
  item.accepted_at !== undefined ||
  item.status === "running" ||
  (item.claimed_by === "lease" && item.claimed_until > nowMs);

export async function readInboxItem(
  workspace: string,
  of: Pick<Facts, "receiver" | "session_id" | "seq">,
): Promise<InboxItem | undefined> {
  const item = await get(keyOfItem(workspace, of));
  return item && parse(item);
}

/** Access pattern: a group's open messages in order: at most 64 todos, and notices until they are told. */
export async function readGroup(workspace: string, receiver: string, sessionAt: string): Promise<InboxItem[]> {
  const { PK } = agentProfile(workspace, receiver);
  return (await queryPrefix(PK, groupPrefix(sessionAt))).map(parse);
}

/** How many todos a group has. Notices ask for nothing, so they keep nobody from calling. */
export async function countTodos(workspace: string, receiver: string, sessionAt: string): Promise<number> {
  const now = Date.now();
  return (await readGroup(workspace, receiver, sessionAt)).filter((item) => isTodo(item, now)).length;
}

/** Access pattern: an agent's profile and all its open messages, in one query; the items by group, in order. */
export async function readAgentAndInbox(
  workspace: string,
  name: string,
): Promise<{ agent: Agent | undefined; items: InboxItem[] }> {
  const found = await queryPrefix(agentProfile(workspace, name).PK, "");
  const items = found.filter(({ SK }) => String(SK).startsWith(inboxPrefix)).map(parse);
  return { agent: parseAgent(found.find(({ SK }) => SK === "PROFILE")), items };
}

export function newItemWrite(
  workspace: string,
  item: Omit<InboxItem, "attempts" | "claimed_until" | "leases" | "next_attempt_at" | "accepted_at" | "status">,
): Write {
  const isNotice = item.about !== undefined;
  return {
    Put: {
      Item: {
        ...item,
        status: "open",
        attempts: [],
        ...keyOfItem(workspace, item),
        ...(!isNotice && { GSI1PK: todosIndex(workspace), GSI1SK: todosIndexSort(fold(item.receiver), item.id) }),
      },
      ConditionExpression: "attribute_not_exists(PK)",
    },
  };
}

/** Deletes the item of a message that ends. `onlyIf` says what else must hold, in terms of the item. */
export function closeItemWrite(
  workspace: string,
  item: InboxItem,
  onlyIf: { condition: string; values: Record<string, unknown> },
): Write {
  return {
    Delete: {
      Key: keyOfItem(workspace, item),
      ConditionExpression: `#id = :id AND (${onlyIf.condition})`,
      ExpressionAttributeValues: { ":id": item.id, ...onlyIf.values },
    },
  };
}

/** Nobody holds the message and nobody has taken it: what a lease or a delivery must find. Needs `:now`. */
export const unclaimed =
  "#status = :open AND attribute_not_exists(#accepted_at) AND " +
  "(attribute_not_exists(#claimed_until) OR #claimed_until <= :now)";

/** A conditional change of an open item. Undefined values are left out. */
export function itemUpdate(
  workspace: string,
  item: Pick<Facts, "id" | "receiver" | "session_id" | "seq">,
  change: {
    set?: Record<string, unknown>;
    remove?: readonly string[];
    condition?: string;
    values?: Record<string, unknown>;
  },
) {
  const set = Object.entries(change.set ?? {}).filter(([, value]) => value !== undefined);
  const clauses = [
    ...(set.length > 0 ? [`SET ${set.map(([name]) => `#${name} = :set_${name}`).join(", ")}`] : []),
    ...(change.remove?.length ? [`REMOVE ${change.remove.map((name) => `#${name}`).join(", ")}`] : []),
  ];
  return {
    Key: keyOfItem(workspace, item),
    UpdateExpression: clauses.join(" "),
    ConditionExpression: `#id = :id${change.condition === undefined ? "" : ` AND (${change.condition})`}`,
    ExpressionAttributeValues: {
      ":id": item.id,
      ...Object.fromEntries(set.map(([name, value]) => [`:set_${name}`, value])),
      ...change.values,
    },
  };
}
