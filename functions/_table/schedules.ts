import * as z from "zod";
import { overlaps, runOutcomes } from "../_runtime/states.ts";
import { dueRecords } from "./due.ts";
import {
  dueRecordSort,
  dueSchedulesIndex,
  scheduleInput as inputKey,
  isScheduleId,
  schedule as keyOf,
  schedulesPrefix,
} from "./keys.ts";
import { ConditionFailed, get, type Item, queryPrefix, retention, update, type Write } from "./table.ts";

/** One run of a schedule. Instants are in ms. */
const run = z.object({
  /** When it was to run: with the schedule's id it decides which firings are the same. */
  scheduled_at: z.number(),
  outcome: z.enum(runOutcomes),
  changed_at: z.number(),
  assignment_id: z.string().default(""),
  /** Why it did not happen, for people. */
  error: z.string().default(""),
});
export type ScheduledRun = z.output<typeof run>;

/** What people see of a schedule. EventBridge Scheduler holds its trigger, and nothing that is not here. */
const schedule = z.object({
  id: z.string(),
  name: z.string(),
  session_id: z.string(),
  user_name: z.string(),
  leader: z.string(),
  project_name: z.string(),
  tasks: z.array(z.object({ name: z.string(), executor: z.string() })),
  expression: z.string(),
  timezone: z.string(),
  start_at: z.number(),
  end_at: z.number().optional(),
  flexible_minutes: z.number(),
  overlap: z.enum(overlaps),
  /** The key that made it: every run acts by it. */
  key_id: z.string(),
  created_at: z.number(),
  /** `creating` and `cancelling`: the trigger is about to follow; `sweep` sees to it that it does. */
  status: z.enum(["creating", "active", "cancelling", "cancelled"]),
  reason: z.string().default(""),
  /** Counts the changes of what follows, which are made by whoever read the latest. */
  revision: z.number(),
  /** The latest runs, oldest first. */
  runs: z.array(run),
});
export type Schedule = z.output<typeof schedule>;

/** As many runs are remembered: enough to know a firing that comes a second time. */
export const runsKept = 10;
export const withRun = (runs: readonly ScheduledRun[], added: ScheduledRun): ScheduledRun[] =>
  [...runs.filter(({ scheduled_at }) => scheduled_at !== added.scheduled_at), added]
    .sort((a, b) => a.scheduled_at - b.scheduled_at)
    .slice(-runsKept);

export const isCancelled = ({ status }: Schedule) => status === "cancelling" || status === "cancelled";

/** Access pattern: a schedule. Strongly consistent; a text that can't be an id leads to none. */
export async function readSchedule(workspace: string, id: string): Promise<Schedule | undefined> {
  const item = isScheduleId(id) ? await get(keyOf(workspace, id)) : undefined;
  return item && schedule.parse(item);
}

/** Access pattern: a workspace's schedules, oldest first; one page. Strongly consistent. */
export async function listSchedules(workspace: string, limit: number, after: string) {
  // One more than asked for tells whether more follows.
  const items = await queryPrefix(keyOf(workspace, "").PK, schedulesPrefix, limit + 1, after);
  return { schedules: items.slice(0, limit).map((item) => schedule.parse(item)), more: items.length > limit };
}

/** What a run assigns; absent once the schedule has been cancelled. */
export async function readScheduleInput(workspace: string, id: string): Promise<Record<string, unknown> | undefined> {
  const item = await get(inputKey(workspace, id));
  return item && z.object({ input: z.record(z.string(), z.unknown()) }).parse(item).input;
}

const lookAgainMs = 60_000;

/** When `sweep` must look at it, unless all is done before (ms); undefined when nothing is under way. */
function dueAt({ status, runs }: Pick<Schedule, "status" | "runs">, nowMs: number): number | undefined {
  const isChanging = status === "creating" || status === "cancelling";
  const hasRun = status !== "cancelled" && runs.some(({ outcome }) => outcome === "starting" || outcome === "queued");
  return isChanging || hasRun ? nowMs + lookAgainMs : undefined;
}

const dueAttributes = (workspace: string, id: string, at: number | undefined) =>
  at === undefined ? {} : { GSI1PK: dueSchedulesIndex, GSI1SK: dueRecordSort(at, workspace, id) };

/** @param lastRunAt the last run that can be; undefined: it runs for ever, and so long its records stay */
export function newScheduleWrites(
  workspace: string,
  made: Schedule,
  input: Record<string, unknown>,
  lastRunAt: number | undefined,
): Write[] {
  const ttl = lastRunAt === undefined ? {} : { ttl: retention(lastRunAt) };
  const due = dueAttributes(workspace, made.id, dueAt(made, made.created_at));
  const put = (Item: Item): Write => ({ Put: { Item, ConditionExpression: "attribute_not_exists(PK)" } });
  return [
    put({ ...keyOf(workspace, made.id), ...due, ...made, ...ttl }),
    put({ ...inputKey(workspace, made.id), input, ...ttl }),
  ];
}

/** Takes back what `newScheduleWrites` wrote: its trigger was refused. */
export const undoScheduleWrites = (workspace: string, { id, revision }: Schedule): Write[] => [
  {
    Delete: {
      Key: keyOf(workspace, id),
      ConditionExpression: "#status = :creating AND #revision = :revision",
      ExpressionAttributeValues: { ":creating": "creating", ":revision": revision },
    },
  },
  { Delete: { Key: inputKey(workspace, id) } },
];

type Change = Partial<Pick<Schedule, "status" | "reason" | "runs">>;

/** A change of the schedule as it was read; refused when it has changed since. */
export function changeScheduleWrite(workspace: string, found: Schedule, change: Change) {
  const now = Date.now();
  const due = dueAttributes(workspace, found.id, dueAt({ ...found, ...change }, now));
  // What was cancelled can still be looked up for a while.
  const over = change.status === "cancelled" ? { ttl: retention(now) } : {};
  const values = { ...change, ...due, ...over, revision: found.revision + 1 };
  const set = Object.keys(values).map((name) => `#${name} = :${name}`);
  return {
    Key: keyOf(workspace, found.id),
    UpdateExpression: `SET ${set.join(", ")}${"GSI1PK" in due ? "" : " REMOVE #GSI1PK, #GSI1SK"}`,
    ConditionExpression: "#revision = :before",
    ExpressionAttributeValues: {
      ":before": found.revision,
      ...Object.fromEntries(Object.entries(values).map(([name, value]) => [`:${name}`, value])),
    },
  };
}

export const removeInputWrite = (workspace: string, id: string): Write => ({
  Delete: { Key: inputKey(workspace, id) },
});

/** Changes a schedule as it was read. @returns as it is now; undefined when it has changed since, or is gone */
export async function changeSchedule(
  workspace: string,
  found: Schedule,
  change: Change,
): Promise<Schedule | undefined> {
  try {
    return schedule.parse(await update(changeScheduleWrite(workspace, found, change)));
  } catch (error) {
    if (error instanceof ConditionFailed) return undefined;
    throw error;
  }
}

/** The schedules that `sweep` must look at. */
export const dueSchedules = (untilMs: number) => dueRecords(dueSchedulesIndex, untilMs, schedule);
