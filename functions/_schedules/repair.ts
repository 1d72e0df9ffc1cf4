import type { Log } from "../_runtime/log.ts";
import { changeSchedule, dueSchedules, type Schedule, withRun } from "../_table/schedules.ts";
import { isUnderWay, start } from "./firing.ts";
import { completeCancellation, completeCreation } from "./lifecycle.ts";
import { TriggerRefused } from "./trigger.ts";

/** `sweep`'s part for schedules: does what a crash left undone, and starts the runs whose predecessor has ended. */
export async function sweepSchedules(untilMs: number, log: Log): Promise<number> {
  let looked = 0;
  for await (const { workspace, record } of dueSchedules(untilMs)) {
    await look(workspace, record, log).catch((error: Error) =>
      log.error("could not look at a schedule; the next sweep does", { error, schedule_id: record.id }),
    );
    looked += 1;
  }
  return looked;
}

async function look(workspace: string, schedule: Schedule, log: Log): Promise<void> {
  const { status } = schedule;
  if (status === "cancelling") return completeCancellation(workspace, schedule);
  if (status === "creating") return create(workspace, schedule);
  // A held run is only looked at for one that waits for it: it may have been decided.
  const begun = schedule.runs.find(({ outcome }) => outcome === "starting" || outcome === "held");
  if (begun !== undefined) return start(workspace, schedule, begun, log);
  const queued = schedule.runs.find(({ outcome }) => outcome === "queued");
  const before = { runs: schedule.runs.filter((run) => run !== queued) };
  if (queued === undefined || (await isUnderWay(workspace, before))) return;
  const next = { ...queued, outcome: "starting" as const, changed_at: Date.now() };
  const changed = await changeSchedule(workspace, schedule, { runs: withRun(schedule.runs, next) });
  if (changed !== undefined) await start(workspace, changed, next, log);
}

/** What was accepted and then is refused, for example an `at` that has passed meanwhile, ends with the reason. */
async function create(workspace: string, schedule: Schedule): Promise<void> {
  try {
    await completeCreation(workspace, schedule);
  } catch (error) {
    if (!(error instanceof TriggerRefused)) throw error;
    const change = { status: "cancelling" as const, reason: `It could not be scheduled: ${error.message}` };
    const refused = await changeSchedule(workspace, schedule, change);
    if (refused !== undefined) await completeCancellation(workspace, refused);
  }
}
