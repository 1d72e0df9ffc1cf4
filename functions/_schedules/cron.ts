import { Cron } from "croner";

/*
 * Cron expressions as EventBridge Scheduler reads them (User Guide, "Schedule types"): minutes, hours, day of month,
 * month, day of week (1 is Sunday), year. `croner` finds the days; its own reading differs in weekday numbers, in
 * `a/n`, in a lone L and at clock changes, so each field is read here and handed to it as plain numbers, and it
 * only ever counts in UTC.
 */

interface Field {
  name: string;
  min: number;
  max: number;
  names?: readonly string[];
}

const months = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const weekdays = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

const minutes: Field = { name: "minutes", min: 0, max: 59 };
const hours: Field = { name: "hours", min: 0, max: 23 };
const dayOfMonth: Field = { name: "day-of-month", min: 1, max: 31 };
const month: Field = { name: "month", min: 1, max: 12, names: months };
const dayOfWeek: Field = { name: "day-of-week", min: 1, max: 7, names: weekdays };
const year: Field = { name: "year", min: 1970, max: 2199 };

/** What is wrong with an expression, for people. */
export class CronError extends Error {
  override readonly name = "CronError";
}

/**
 * Reads the six fields of `cron(…)`.
 * @returns finds the wall-clock time (see zone.ts) of the first match after another
 * @throws {CronError}
 */
export function readCron(text: string): (afterWallMs: number) => number | undefined {
  const fields = text.trim().split(/\s+/);
  if (fields.length !== 6)
    throw new CronError(
      `cron needs six fields (minutes hours day-of-month month day-of-week year), not ${fields.length}`,
    );
  const [minute = "", hour = "", day = "", months = "", weekday = "", years = ""] = fields;
  if ((day === "?") === (weekday === "?")) throw new CronError("exactly one of day-of-month and day-of-week must be ?");
  const parts = [
    "0",
    listed(minutes, minute),
    listed(hours, hour),
    dayPart(day),
    listed(month, months),
    weekdayPart(weekday),
    listed(year, years),
  ];
  const cron = new Cron(parts.join(" "), { paused: true, timezone: "UTC", mode: "7-part" });
  return (afterWallMs) => cron.nextRun(new Date(afterWallMs))?.getTime();
}

/** `L` is the month's last day, `15W` the weekday nearest to the 15th within the month. */
function dayPart(text: string): string {
  if (text === "?" || text === "L") return text === "?" ? "*" : text;
  const [, nearest] = /^(\d+)W$/.exec(text) ?? [];
  return nearest === undefined ? listed(dayOfMonth, text) : `${valueIn(dayOfMonth, nearest)}W`;
}

/** `L` is the week's last day, `6L` the month's last Friday, `3#2` its second Tuesday. croner counts from 0. */
function weekdayPart(text: string): string {
  if (text === "?") return "*";
  if (text === "L") return "6";
  const [, last] = /^(\w+?)L$/.exec(text) ?? [];
  if (last !== undefined) return `${valueIn(dayOfWeek, last) - 1}#L`;
  const [, of, nth] = /^(\w+)#([1-5])$/.exec(text) ?? [];
  if (of !== undefined) return `${valueIn(dayOfWeek, of) - 1}#${nth}`;
  return text === "*"
    ? "*"
    : valuesOf(dayOfWeek, text)
        .map((value) => value - 1)
        .join(",");
}

const listed = (field: Field, text: string) => (text === "*" ? "*" : valuesOf(field, text).join(","));

/** The values that a list of numbers, names, ranges and steps stands for. */
function valuesOf(field: Field, text: string): number[] {
  const values = text.split(",").flatMap((part) => {
    const [, from, to, step] = /^(\*|\w+)(?:-(\w+))?(?:\/(\d+))?$/.exec(part) ?? [];
    if (from === undefined || (from === "*" && (to !== undefined || step === undefined))) throw unreadable(field, part);
    const first = from === "*" ? field.min : valueIn(field, from);
    const last = to !== undefined ? valueIn(field, to) : step === undefined ? first : field.max;
    const by = step === undefined ? 1 : Number(step);
    if (by < 1 || last < first) throw unreadable(field, part);
    return Array.from({ length: Math.floor((last - first) / by) + 1 }, (_, index) => first + index * by);
  });
  return [...new Set(values)].sort((a, b) => a - b);
}

function valueIn(field: Field, text: string): number {
  const named = field.names?.indexOf(text.toUpperCase()) ?? -1;
  const value = named >= 0 ? named + field.min : /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= field.min && value <= field.max) return value;
  throw unreadable(field, text);
}

function unreadable({ name, min, max, names }: Field, text: string): CronError {
  const named = names === undefined ? "" : ` or ${names[0]} to ${names.at(-1)}`;
  return new CronError(`'${text.slice(0, 40)}' is not in the ${name} field, which takes ${min} to ${max}${named}`);
}
