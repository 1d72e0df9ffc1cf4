import * as z from "zod";
import { type Id, parseId, record as recordKey, text as textKey } from "./keys.ts";
import { idOf } from "./messages.ts";
import { get, type Item, retention, update, type Write } from "./table.ts";

/** Work that a leader handed out at once: its tasks, and how many of them have not ended. */
const assignment = z.object({
  id: z.string(),
  session_id: z.string(),
  user_name: z.string(),
  leader: z.string(),
  project_name: z.string(),
  created_at: z.number(),
  open: z.number(),
  /** The leader waits for the end until then (ms); absent when it does not, or no longer. */
  waiting_until: z.number().optional(),
  /** Every task that was asked for, in order; `task_id` is empty where it was refused, `refused` says why. */
  tasks: z.array(z.object({ name: z.string(), executor: z.string(), task_id: z.string(), refused: z.string() })),
});
export type Assignment = z.output<typeof assignment>;

const parseAssignment = (item: Item | undefined) => item && assignment.parse(item);
const assignmentKey = (workspace: string, id: string) => recordKey(workspace, idOf(id));
export const assignmentBodyKey = (workspace: string, id: string) => textKey(workspace, idOf(id), "BODY");

/** Access pattern: an assignment and its open count. Strongly consistent. */
export async function readAssignment(workspace: string, id: string): Promise<Assignment | undefined> {
  const parsed: Id | undefined = parseId(id);
  return parsed?.kind === "asg" ? parseAssignment(await get(recordKey(workspace, parsed))) : undefined;
}

export function newAssignmentWrite(workspace: string, found: Assignment, keepFrom: number): Write {
  return {
    Put: {
      Item: { ...found, ...assignmentKey(workspace, found.id), ttl: retention(keepFrom) },
      ConditionExpression: "attribute_not_exists(PK)",
    },
  };
}

/**
 * Counts one task as ended. The last one ends the assignment, so whoever closes it states in the same
 * transaction that it is the last and whether the leader still waits; both are guarded here.
 */
export function taskEndedWrite(workspace: string, found: Assignment, nowMs: number): Write {
  const isLast = found.open <= 1;
  const waits = found.waiting_until !== undefined && found.waiting_until > nowMs;
  const waitCondition = waits
    ? "#waiting_until = :waiting"
    : "(attribute_not_exists(#waiting_until) OR #waiting_until <= :now)";
  return {
    Update: {
      Key: assignmentKey(workspace, found.id),
      UpdateExpression: "SET #open = #open - :one",
      ConditionExpression: isLast ? `#open = :one AND ${waitCondition}` : "#open > :one",
      ExpressionAttributeValues: {
        ":one": 1,
        ...(isLast && (waits ? { ":waiting": found.waiting_until } : { ":now": nowMs })),
      },
    },
  };
}

const refreshAfterMs = 30 * 86_400_000;

/** An assignment whose tasks are kept going for months must not expire before them. */
export async function keepAssignment(workspace: string, id: string, sentAt: number, keepFrom: number): Promise<void> {
  if (Date.now() - sentAt < refreshAfterMs) return;
  await update({
    Key: assignmentKey(workspace, id),
    UpdateExpression: "SET #ttl = :ttl",
    ConditionExpression: "attribute_exists(PK)",
    ExpressionAttributeValues: { ":ttl": retention(keepFrom) },
    ReturnValues: "NONE",
  });
}

/** The leader's wait is over; refused when the assignment has ended meanwhile. */
export function endLeaderWait(workspace: string, id: string) {
  return {
    Key: assignmentKey(workspace, id),
    UpdateExpression: "REMOVE #waiting_until",
    ConditionExpression: "#open > :zero",
    ExpressionAttributeValues: { ":zero": 0 },
  };
}
