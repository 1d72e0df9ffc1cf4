/*
 * Cron expressions as EventBridge Scheduler reads them (User Guide, "Schedule types"): minutes, hours, day of month,
 * month, day of week (1 is Sunday), year.
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

/** Finds the wall-clock time (see zone.ts) of the first match after another; undefined when none follows. */
export type Matches = (afterWallMs: number) => number | undefined;

/** Reads the six fields of `cron(…)`. @throws {CronError} */
export function readCron(text: string): Matches {
  const fields = text.trim().split(/\s+/);
  if (fields.length !== 6)
    throw new CronError(
      `cron needs six fields (minutes hours day-of-month month day-of-week year), not ${fields.length}`,
    );
  const [minute = "", hour = "", day = "", months = "", weekday = "", years = ""] = fields;
  if ((day === "?") === (weekday === "?")) throw new CronError("exactly one of day-of-month and day-of-week must be ?");
  return matchesOf({
    minutes: valuesOf(minutes, minute),
    hours: valuesOf(hours, hour),
    isDay: weekday === "?" ? readDay(day) : readWeekday(weekday),
    months: new Set(valuesOf(month, months)),
    years: new Set(valuesOf(year, years)),
  });
}

/** Whether a day, at midnight UTC, is meant. */
type IsDay = (day: Date) => boolean;

interface Cron {
  minutes: readonly number[];
  hours: readonly number[];
  isDay: IsDay;
  months: ReadonlySet<number>;
  years: ReadonlySet<number>;
}

const minuteMs = 60_000;

function matchesOf({ minutes, hours, isDay, months, years }: Cron): Matches {
  const times = hours.flatMap((hour) => minutes.map((minute) => (hour * 60 + minute) * minuteMs));
  const lastYear = Math.max(...years);
  return (afterWallMs) => {
    const from = (Math.floor(afterWallMs / minuteMs) + 1) * minuteMs;
    const day = new Date(from);
    day.setUTCHours(0, 0, 0, 0);
    while (day.getUTCFullYear() <= lastYear) {
      const [year, month, date] = [day.getUTCFullYear(), day.getUTCMonth(), day.getUTCDate()];
      if (!years.has(year)) day.setUTCFullYear(year + 1, 0, 1);
      else if (!months.has(month + 1)) day.setUTCMonth(month + 1, 1);
      else {
        const time = isDay(day) ? times.find((time) => day.getTime() + time >= from) : undefined;
        if (time !== undefined) return day.getTime() + time;
        day.setUTCDate(date + 1);
      }
    }
    return undefined;
  };
}

const lastDateOf = (day: Date) => new Date(Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + 1, 0)).getUTCDate();

/** `L` is the month's last day, `15W` the weekday nearest to the 15th within the month. */
function readDay(text: string): IsDay {
  if (text === "L") return (day) => day.getUTCDate() === lastDateOf(day);
  const [, near] = /^(\d+)W$/.exec(text) ?? [];
  if (near !== undefined) {
    const date = valueIn(dayOfMonth, near);
    return (day) => day.getUTCDate() === weekdayNear(day, date);
  }
  const dates = new Set(valuesOf(dayOfMonth, text));
  return (day) => dates.has(day.getUTCDate());
}

/** The date of the weekday nearest to a date of this month; none in a month that is too short for it. */
function weekdayNear(day: Date, date: number): number | undefined {
  const last = lastDateOf(day);
  if (date > last) return undefined;
  const weekday = new Date(Date.UTC(day.getUTCFullYear(), day.getUTCMonth(), date)).getUTCDay();
  if (weekday === 6) return date > 1 ? date - 1 : date + 2;
  if (weekday === 0) return date < last ? date + 1 : date - 2;
  return date;
}

/** `L` is the week's last day, `6L` the month's last Friday, `3#2` its second Tuesday. */
function readWeekday(text: string): IsDay {
  if (text === "L") return (day) => day.getUTCDay() === 6;
  const [, last] = /^(\w+?)L$/.exec(text) ?? [];
  const [, of, nth] = /^(\w+)#([1-5])$/.exec(text) ?? [];
  const weekdays = new Set(valuesOf(dayOfWeek, last ?? of ?? text).map((value) => value - 1));
  const isOne = (day: Date) => weekdays.has(day.getUTCDay());
  if (last !== undefined) return (day) => isOne(day) && day.getUTCDate() > lastDateOf(day) - 7;
  return nth === undefined ? isOne : (day) => isOne(day) && Math.ceil(day.getUTCDate() / 7) === Number(nth);
}

/** The values that a list of numbers, names, ranges and steps stands for. */
function valuesOf(field: Field, text: string): number[] {
  if (text === "*") return valuesOf(field, `${field.min}-${field.max}`);
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
