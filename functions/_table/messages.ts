import { randomBytes } from "node:crypto";
import * as z from "zod";
import { callStates, messageKinds, taskStates } from "../_runtime/states.ts";
import { dueRecords } from "./due.ts";
import {
  dueIndex,
  dueShardOf,
  dueSort,
  formatId,
  type Id,
  messagesPrefix,
  parseId,
  record as recordKey,
  sequencePlace,
  sessionDigest,
  tasksPrefix,
} from "./keys.ts";
import { ConditionFailed, get, getAll, queryPrefix, retention, update, type Write } from "./table.ts";

/** One delivery: a webhook request, or a lease from the inbox. */
export const attempt = z.object({
  number: z.number(),
  started_at: z.number(),
  ended_at: z.number().optional(),
  /** What came of it, in a word or a short sentence; absent while it runs. */
  outcome: z.string().optional(),
  http_status: z.number().optional(),
});
export type Attempt = z.output<typeof attempt>;

/** What is known of a message from the start and never changes; head and inbox item both hold it. */
export const facts = z.object({
  id: z.string(),
  kind: z.enum(messageKinds),
  session_id: z.string(),
  seq: z.number(),
  user_name: z.string(),
  sender: z.string(),
  receiver: z.string(),
  project_name: z.string(),
  task_name: z.string(),
  sent_at: z.number(),
  /** Requested files came with it; they are a text of their own. */
  has_files: z.boolean().default(false),
  /** Length of the call chain that ends here. */
  depth: z.number().default(0),
  /** The assignment of a task or a report. */
  assignment_id: z.string().optional(),
  /** The schedule that a task was assigned by. */
  schedule_id: z.string().optional(),
  /** Seconds that each update_task adds to a task's deadline. */
  deadline_s: z.number(),
  /**
   * A notice tells its receiver something and asks for nothing, so it is no todo: what it is about is the
   * call of a late reply, the assignment of a report, or a call or task that was withdrawn.
   */
  about: z.string().optional(),
});
export type Facts = z.output<typeof facts>;

const openStates = ["open", "running"] as const;
const closedStates = [
  ...callStates.filter((state) => state !== "queued" && state !== "delivered"),
  ...taskStates.filter((state) => state === "done" || state === "rejected"),
  /** A notice that reached its receiver. */
  "told",
] as const;
export type ClosedState = (typeof closedStates)[number];

/** What became of a message. Attempts stay on the inbox item while it is open and are copied here at its end. */
const head = facts.extend({
  status: z.enum([...openStates, ...closedStates]),
  deadline_at: z.number(),
  updated_at: z.number(),
  /** Names the text of the reply, of the result, or of the latest progress. */
  reply_id: z.string().optional(),
  reason: z.string().default(""),
  attempts: z.array(attempt).default([]),
  /** The end of this call went to its sender as a message, since the sender no longer waited. */
  told_sender: z.boolean().default(false),
});
export type Head = z.output<typeof head>;

export const isOpen = ({ status }: { status: Head["status"] }) => status === "open" || status === "running";

/** Why a message that is past its deadline has ended. */
export const overdueReason = ({ kind }: { kind: Facts["kind"] }) =>
  kind === "task" ? "No progress or result came before the deadline." : "No answer came before the deadline.";

/** The status by the clock: what is past its deadline has timed out, whether or not `sweep` has noted it. */
export function statusNow(found: { status: Head["status"]; deadline_at: number }, nowMs: number): Head["status"] {
  return isOpen(found) && found.deadline_at <= nowMs ? "timed_out" : found.status;
}

/** An id known to be ours. */
export function idOf(text: string): Id {
  const id = parseId(text);
  if (id === undefined) throw new Error(`'${text}' is not an id of this system.`);
  return id;
}

export const randomPart = () => randomBytes(6).toString("hex");

/** Id of a message that lives in its session. */
export const sessionMessageId = (kind: "call" | "note", sessionId: string, seq: number, random = randomPart()) =>
  formatId({ kind, at: sessionDigest(sessionId), place: sequencePlace(seq, random) });

export const randomOf = (messageId: string) => idOf(messageId).place.split("_")[1] ?? "";

/** Access pattern: what became of a message. Strongly consistent; `kind` guards against a foreign kind of id. */
export async function readHead(workspace: string, id: string, kind: Id["kind"]): Promise<Head | undefined> {
  const parsed = parseId(id);
  if (parsed?.kind !== kind) return undefined;
  const item = await get(recordKey(workspace, parsed));
  const found = item && head.parse(item);
  // Calls and notes share their places in a session: an id of one kind must not open a record of the other.
  return found?.id === id ? found : undefined;
}

export async function readHeads(workspace: string, ids: readonly string[]): Promise<(Head | undefined)[]> {
  const items = await getAll(ids.map((id) => recordKey(workspace, idOf(id))));
  return items.map((item) => item && head.parse(item));
}

/** Access pattern: a session's messages in order, or a project's tasks in order; one page. */
export async function listHeads(PK: string, of: "messages" | "tasks", limit: number, after: string) {
  const prefix = of === "messages" ? messagesPrefix : tasksPrefix;
  // One more than asked for tells whether more follows.
  const items = await queryPrefix(PK, prefix, limit + 1, after);
  return { heads: items.slice(0, limit).map((item) => head.parse(item)), more: items.length > limit };
}

/** `sweep` looks at an open head again at `dueAt` (ms). */
const dueAttributes = (id: Id, dueAt: number) => ({ GSI1PK: dueIndex(dueShardOf(id)), GSI1SK: dueSort(dueAt, id) });

export function newHeadWrite(workspace: string, message: Facts & { deadline_at: number }, dueAt: number): Write {
  const id = idOf(message.id);
  const found: Head = {
    ...message,
    status: "open",
    updated_at: message.sent_at,
    reason: "",
    attempts: [],
    told_sender: false,
  };
  return {
    Put: {
      Item: { ...found, ...recordKey(workspace, id), ...dueAttributes(id, dueAt), ttl: retention(message.deadline_at) },
      ConditionExpression: "attribute_not_exists(PK)",
    },
  };
}

/** The end of a message; goes into one transaction with the deletion of its inbox item, which guards it. */
export function closeHeadWrite(
  workspace: string,
  messageId: string,
  end: Partial<Head> & { status: ClosedState },
): Write {
  const values = { ...end, updated_at: Date.now() };
  return {
    Update: {
      Key: recordKey(workspace, idOf(messageId)),
      UpdateExpression: `SET ${Object.keys(values)
        .map((name) => `#${name} = :${name}`)
        .join(", ")} REMOVE #GSI1PK, #GSI1SK`,
      ConditionExpression: "attribute_exists(PK)",
      ExpressionAttributeValues: Object.fromEntries(Object.entries(values).map(([name, value]) => [`:${name}`, value])),
    },
  };
}

/** Progress of a task. */
export function progressHeadWrite(
  workspace: string,
  messageId: string,
  progress: { reply_id: string; deadline_at: number },
): Write {
  return {
    Update: {
      Key: recordKey(workspace, idOf(messageId)),
      UpdateExpression:
        "SET #status = :running, #reply_id = :reply_id, #deadline_at = :deadline_at, #updated_at = :now, #ttl = :ttl",
      ConditionExpression: "attribute_exists(PK)",
      ExpressionAttributeValues: {
        ":running": "running",
        ":reply_id": progress.reply_id,
        ":deadline_at": progress.deadline_at,
        ":now": Date.now(),
        ":ttl": retention(progress.deadline_at),
      },
    },
  };
}

/** Moves the instant (ms) at which `sweep` looks at an open head again. */
export async function lookAgainAt(workspace: string, messageId: string, dueAt: number): Promise<void> {
  const id = idOf(messageId);
  try {
    await update({
      Key: recordKey(workspace, id),
      UpdateExpression: "SET #GSI1SK = :due",
      // A closed head has left the index and must not come back.
      ConditionExpression: "attribute_exists(#GSI1PK)",
      ExpressionAttributeValues: { ":due": dueSort(dueAt, id) },
      ReturnValues: "NONE",
    });
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
  }
}

/** What `sweep` must look at in one shard. */
export const dueHeads = (shard: number, untilMs: number) => dueRecords(dueIndex(shard), untilMs, head);
