import { nextRuns, type Plan, readDateTime, readExpression, TimingError } from "./timing.ts";
import { localIso, nearestZone, wallTime, zoneNamed } from "./zone.ts";

/** What a caller says of when a schedule is to run; empty texts say nothing. */
interface Asked {
  schedule: string;
  timezone: string;
  start: string;
  end: string;
}

const hourMs = 3_600_000;
/** EventBridge Scheduler takes a start that lies no more than five minutes back. */
const startGraceMs = 5 * 60_000;

/**
 * Reads when a schedule runs, and makes sure that it will.
 * @throws {TimingError} naming what is wrong, with an example that would be right now
 */
export function readPlan(asked: Asked, nowMs: number): Plan {
  const timezone = zoneNamed(asked.timezone);
  if (timezone === undefined)
    throw new TimingError(`There is no time zone '${asked.timezone}'`, nearestZone(asked.timezone));
  const { text, timing } = readExpression(asked.schedule, timezone);
  // Triggers tell times in whole seconds.
  const begin = Math.floor(nowMs / 1000) * 1000;
  const soon = new Date(wallTime(timezone, nowMs + hourMs)).toISOString().slice(0, 19);
  if (timing.kind === "at") {
    if (asked.start !== "" || asked.end !== "")
      throw new TimingError("start and end are for cron and rate: an at runs once", `${text} without start and end`);
    if (timing.atMs <= nowMs)
      throw new TimingError(`${text} has passed: it is ${localIso(timezone, nowMs)} in ${timezone}`, `at(${soon})`);
    return { expression: text, timezone, start_at: begin };
  }
  const instantOf = (time: string) => (time === "" ? undefined : readDateTime(time, timezone, soon));
  const start = instantOf(asked.start);
  const end = instantOf(asked.end);
  if (start !== undefined && start < nowMs - startGraceMs)
    throw new TimingError("start has passed; leave it out to begin at once", soon);
  const plan = { expression: text, timezone, start_at: start ?? begin, ...(end !== undefined && { end_at: end }) };
  if (nextRuns(plan, nowMs - startGraceMs, 1).length === 0)
    throw new TimingError(
      end === undefined ? `${text} names a time that never comes` : "There is no run between start and end",
      end === undefined ? "cron(0 9 ? * MON-FRI *)" : "an end after the first run, or no end",
    );
  return plan;
}

/** The last run that can be (ms); undefined when there is none. */
export const lastRunOf = (plan: Plan): number | undefined =>
  plan.expression.startsWith("at(") ? nextRuns(plan, 0, 1)[0] : plan.end_at;
