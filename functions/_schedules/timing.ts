import { CronError, type Matches, readCron } from "./cron.ts";
import { instantOf, wallTime } from "./zone.ts";

/** When a schedule runs, read from its expression. */
type Timing = { kind: "at"; atMs: number } | { kind: "rate"; everyMs: number } | { kind: "cron"; next: Matches };

export interface Expression {
  /** As EventBridge Scheduler takes it. */
  text: string;
  timing: Timing;
}

/** Why an expression, zone or date can't be used, and one that could. */
export class TimingError extends Error {
  override readonly name = "TimingError";
  readonly example: string;

  constructor(message: string, example: string) {
    super(message);
    this.example = example;
  }
}

const examples = {
  at: "at(2027-01-31T09:00:00)",
  rate: "rate(15 minutes)",
  cron: "cron(0 9 ? * MON-FRI *)",
} as const;

/**
 * Reads `at(yyyy-mm-ddThh:mm:ss)`, `rate(value unit)` or `cron(six fields)` as EventBridge Scheduler does, for a known
 * zone. An `at` with `Z` or an offset names an instant: it is put into the zone's own time.
 * @throws {TimingError}
 */
export function readExpression(text: string, zone: string): Expression {
  const [, kind, inside = ""] = /^\s*(at|rate|cron)\((.*)\)\s*$/i.exec(text) ?? [];
  switch (kind?.toLowerCase()) {
    case "at":
      return readAt(inside.trim(), zone);
    case "rate":
      return readRate(inside);
    case "cron":
      return readCronExpression(inside);
    default:
      throw new TimingError(
        `'${text.slice(0, 100)}' is none of at(…), rate(…) and cron(…)`,
        `${examples.cron}, ${examples.rate} or ${examples.at}`,
      );
  }
}

function readAt(inside: string, zone: string): Expression {
  const atMs = readDateTime(inside, zone, examples.at);
  return { text: `at(${new Date(wallTime(zone, atMs)).toISOString().slice(0, 19)})`, timing: { kind: "at", atMs } };
}

const dateTime = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}:\d{2})(?:\.\d{1,9})?(Z|[+-]\d{2}:\d{2})?$/;

/**
 * A date-time in the zone's own time, or anywhere when it says `Z` or an offset. A fraction of a second is dropped.
 * @returns the instant (ms)
 * @throws {TimingError} also for a time that the zone's clocks skip
 */
export function readDateTime(text: string, zone: string, example: string): number {
  const [, date, time, offset] = dateTime.exec(text) ?? [];
  const wallMs = Date.parse(`${date}T${time}Z`);
  // `Date` takes the 31st of a month of 30 days for the next month's first.
  if (Number.isNaN(wallMs) || new Date(wallMs).toISOString().slice(0, 19) !== `${date}T${time}`)
    throw new TimingError(`'${text.slice(0, 100)}' is no date and time`, example);
  const instant = offset === undefined ? instantOf(zone, wallMs) : Date.parse(`${date}T${time}${offset}`);
  if (instant === undefined)
    throw new TimingError(`${date}T${time} does not exist in ${zone}: its clocks are put forward over it`, example);
  if (Number.isNaN(instant)) throw new TimingError(`'${text.slice(0, 100)}' is no date and time`, example);
  return instant;
}

const unitMs = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };
/** Ten years: beyond it nobody means a rate. */
const longestRateMs = 3_653 * unitMs.day;

function readRate(inside: string): Expression {
  const [, digits = "", unit = ""] = /^\s*(\d{1,9})\s+(minute|hour|day)s?\s*$/.exec(inside) ?? [];
  const value = Number(digits);
  const everyMs = value * (unitMs[unit as keyof typeof unitMs] ?? 0);
  if (everyMs <= 0 || everyMs > longestRateMs)
    throw new TimingError(
      "rate needs a whole number from 1 and minutes, hours or days, at most ten years in all",
      examples.rate,
    );
  return { text: `rate(${value} ${unit}${value === 1 ? "" : "s"})`, timing: { kind: "rate", everyMs } };
}

function readCronExpression(inside: string): Expression {
  try {
    return { text: `cron(${inside.trim().split(/\s+/).join(" ")})`, timing: { kind: "cron", next: readCron(inside) } };
  } catch (error) {
    if (error instanceof CronError) throw new TimingError(error.message, examples.cron);
    throw error;
  }
}

/** All that decides when a schedule runs. Instants are in ms. */
export interface Plan {
  expression: string;
  timezone: string;
  /** The first run of a rate; no cron runs before it. */
  start_at: number;
  /** No run after it; absent: for ever. */
  end_at?: number | undefined;
}

/**
 * The next runs after an instant (ms), as EventBridge Scheduler documents them: a cron time that the zone's clocks
 * skip does not run that day, one that they show twice runs once, the first time; a rate counts elapsed time.
 */
export function nextRuns(plan: Plan, afterMs: number, count: number): number[] {
  const { timing } = readExpression(plan.expression, plan.timezone);
  const end = plan.end_at ?? Number.POSITIVE_INFINITY;
  const runs: number[] = [];
  for (const run of runsOf(timing, plan, afterMs)) {
    if (run > end || runs.push(run) === count) break;
  }
  return runs;
}

function* runsOf(timing: Timing, { timezone, start_at }: Plan, afterMs: number): Generator<number> {
  switch (timing.kind) {
    case "at":
      if (timing.atMs > afterMs) yield timing.atMs;
      return;
    case "rate": {
      const passed = Math.max(0, Math.floor((afterMs - start_at) / timing.everyMs) + 1);
      for (let run = start_at + passed * timing.everyMs; ; run += timing.everyMs) yield run;
    }
    case "cron": {
      // What the clocks have not shown by `from` lies ahead of what they show then, or is skipped.
      const from = Math.max(afterMs, start_at - 1);
      for (let wall = timing.next(wallTime(timezone, from)); wall !== undefined; wall = timing.next(wall)) {
        const run = instantOf(timezone, wall);
        if (run !== undefined && run > from) yield run;
      }
    }
  }
}
