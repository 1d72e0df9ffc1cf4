import { iso } from "../_runtime/time.ts";
import { isCancelled, type Schedule } from "../_table/schedules.ts";
import { nextRuns } from "./timing.ts";
import { localIso } from "./zone.ts";

const runsShown = 3;

/** A schedule as the tools answer it, by the clock. */
export function returnsOf(schedule: Schedule, nowMs = Date.now()) {
  const { id, expression, timezone, start_at, end_at, flexible_minutes, created_at, runs } = schedule;
  const last = runs.at(-1);
  const next = isCancelled(schedule) ? [] : nextRuns(schedule, pendingAfter(schedule, nowMs), runsShown);
  return {
    schedule_id: id,
    name: schedule.name,
    session_id: schedule.session_id,
    user_name: schedule.user_name,
    leader: schedule.leader,
    project_name: schedule.project_name,
    tasks: schedule.tasks,
    schedule: expression,
    timezone,
    start_at: iso(start_at),
    end_at: iso(end_at),
    flexible_window_minutes: flexible_minutes,
    overlap: schedule.overlap,
    status: statusOf(schedule, nowMs),
    reason: schedule.reason,
    next_runs: next.map((run) => ({ local: localIso(timezone, run), utc: iso(run) })),
    last_run_at: iso(last?.scheduled_at),
    last_outcome: last?.outcome ?? ("" as const),
    last_error: last?.error ?? "",
    last_assignment_id: last?.assignment_id ?? "",
    created_at: iso(created_at),
  };
}

/** EventBridge Scheduler fires within a minute of a run's time, or within its window: until then it is to come. */
function pendingAfter({ runs, flexible_minutes }: Schedule, nowMs: number): number {
  return Math.max(runs.at(-1)?.scheduled_at ?? 0, nowMs - Math.max(1, flexible_minutes) * 60_000);
}

/** The status by the clock: nothing has to happen for a schedule to have ended. */
export function statusOf(schedule: Schedule, nowMs: number): "active" | "cancelled" | "ended" {
  if (isCancelled(schedule)) return "cancelled";
  const isRunning = schedule.runs.some(({ outcome }) => outcome === "starting" || outcome === "queued");
  return isRunning || nextRuns(schedule, pendingAfter(schedule, nowMs), 1).length > 0 ? "active" : "ended";
}
