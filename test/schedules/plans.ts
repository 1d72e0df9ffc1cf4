import { nextRuns, type Plan } from "../../functions/_schedules/timing.ts";

/** An instant (ms), written without its Z. */
export const utc = (text: string) => Date.parse(`${text}Z`);
export const plan = (expression: string, timezone: string, more: Partial<Plan> = {}): Plan => ({
  expression,
  timezone,
  start_at: utc("2000-01-01T00:00:00"),
  ...more,
});
export const runs = (expression: string, timezone: string, after: string, count = 3, more: Partial<Plan> = {}) =>
  nextRuns(plan(expression, timezone, more), utc(after), count).map((run) => new Date(run).toISOString().slice(0, 16));
