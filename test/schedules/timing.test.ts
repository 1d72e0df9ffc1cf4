import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { nextRuns, readExpression } from "../../functions/_schedules/timing.ts";
import { instantOf, localIso, wallTime } from "../../functions/_schedules/zone.ts";
import { plan, runs, utc } from "./plans.ts";

/*
 * What EventBridge Scheduler documents ("Schedule types", "Daylight savings time"): a time that the clocks skip does
 * not run that day, one that they show twice runs once, a rate counts elapsed time. Under two zones of this process.
 */

describe.each(["America/New_York", "UTC"])("in a process whose own zone is %s", (own) => {
  const before = process.env.TZ;
  beforeAll(() => {
    process.env.TZ = own;
  });
  afterAll(() => {
    if (before === undefined) delete process.env.TZ;
    else process.env.TZ = before;
  });

  test("that zone is in force", () => {
    expect(new Date(2027, 0, 1).getTimezoneOffset()).toBe(own === "UTC" ? 0 : 300);
  });

  test.each([
    [
      "New York skips 02:30 in spring",
      "cron(30 2 * * ? *)",
      "America/New_York",
      "2027-03-13T12:00:00",
      ["2027-03-15T06:30", "2027-03-16T06:30"],
    ],
    [
      "New York shows 01:30 twice in autumn, and it runs the first time",
      "cron(30 1 * * ? *)",
      "America/New_York",
      "2027-11-06T12:00:00",
      ["2027-11-07T05:30", "2027-11-08T06:30"],
    ],
    [
      "New York in between the two 01:30",
      "cron(30 1 * * ? *)",
      "America/New_York",
      "2027-11-07T05:45:00",
      ["2027-11-08T06:30"],
    ],
    [
      "every half hour goes on after New York's gap",
      "cron(0/30 * * * ? *)",
      "America/New_York",
      "2027-03-14T06:29:00",
      ["2027-03-14T06:30", "2027-03-14T07:00", "2027-03-14T07:30"],
    ],
    [
      "no half hour runs twice in New York's long night",
      "cron(0/30 * * * ? *)",
      "America/New_York",
      "2027-11-07T05:29:00",
      ["2027-11-07T05:30", "2027-11-07T07:00", "2027-11-07T07:30"],
    ],
    [
      "Lord Howe skips half an hour from 02:00",
      "cron(15 2 * * ? *)",
      "Australia/Lord_Howe",
      "2027-10-01T15:46:00",
      ["2027-10-03T15:15", "2027-10-04T15:15"],
    ],
    [
      "02:30 is what Lord Howe's clocks show then",
      "cron(30 2 * * ? *)",
      "Australia/Lord_Howe",
      "2027-10-01T16:00:00",
      ["2027-10-02T15:30", "2027-10-03T15:30"],
    ],
    [
      "Lord Howe shows 01:45 twice",
      "cron(45 1 * * ? *)",
      "Australia/Lord_Howe",
      "2027-04-02T15:00:00",
      ["2027-04-03T14:45", "2027-04-04T15:15"],
    ],
    [
      "Apia had no 30th of December 2011",
      "cron(0 9 * * ? *)",
      "Pacific/Apia",
      "2011-12-29T00:00:00",
      ["2011-12-29T19:00", "2011-12-30T19:00", "2011-12-31T19:00"],
    ],
    [
      "a schedule for the day that Apia left out never runs",
      "cron(0 9 30 12 ? 2011)",
      "Pacific/Apia",
      "2011-01-01T00:00:00",
      [],
    ],
    [
      "Shanghai's clocks have no summer time",
      "cron(0 9 * * ? *)",
      "Asia/Shanghai",
      "2027-03-13T01:00:00",
      ["2027-03-14T01:00", "2027-03-15T01:00", "2027-03-16T01:00"],
    ],
  ])("%s", (_, expression, timezone, after, expected) => {
    const count = Math.max(expected.length, 1);
    expect(runs(expression, timezone, after, count)).toEqual(expected);
  });

  test("a rate of a day is 24 hours, across both changes", () => {
    const more = { start_at: utc("2027-03-13T14:00:00") };
    const local = (after: string) =>
      nextRuns(plan("rate(1 day)", "America/New_York", more), utc(after), 2).map((run) =>
        localIso("America/New_York", run),
      );
    expect(local("2027-03-13T13:00:00")).toEqual(["2027-03-13T09:00:00-05:00", "2027-03-14T10:00:00-04:00"]);
    expect(local("2027-11-06T13:00:00")).toEqual(["2027-11-06T10:00:00-04:00", "2027-11-07T09:00:00-05:00"]);
  });

  test("an at in its zone is one instant; in a gap it is refused, and of two it is the first", () => {
    expect(runs("at(2027-01-01T09:00:00)", "Asia/Shanghai", "2026-12-01T00:00:00")).toEqual(["2027-01-01T01:00"]);
    expect(runs("at(2027-11-07T01:30:00)", "America/New_York", "2026-12-01T00:00:00")).toEqual(["2027-11-07T05:30"]);
    expect(() => readExpression("at(2027-03-14T02:30:00)", "America/New_York")).toThrow("does not exist");
  });

  /** Zones and spans of days in which their clocks change, and one where they don't. */
  const spans: [zone: string, from: string, days: number][] = [
    ["America/New_York", "2027-03-12T00:00:00", 5],
    ["America/New_York", "2027-11-05T00:00:00", 5],
    ["Australia/Lord_Howe", "2027-10-01T00:00:00", 4],
    ["Australia/Lord_Howe", "2027-04-02T00:00:00", 4],
    ["Pacific/Apia", "2011-12-28T00:00:00", 5],
    ["Europe/London", "2027-10-29T00:00:00", 4],
    ["Asia/Shanghai", "2027-03-12T00:00:00", 3],
  ];
  /** What the clocks show, minute by minute, each time only when it is shown first. */
  const shown = new Map(
    spans.map((span) => {
      const [zone, from, days] = span;
      const seen = new Set<number>();
      const minutes = Array.from({ length: days * 1440 }, (_, minute) => utc(from) + minute * 60_000);
      const first = minutes.flatMap((instant) => {
        const wall = wallTime(zone, instant);
        if (seen.has(wall)) return [];
        seen.add(wall);
        return [{ instant, wall: new Date(wall) }];
      });
      return [span, first] as const;
    }),
  );
  const minuteField = fc.oneof(
    fc.constant("*"),
    fc.integer({ min: 0, max: 59 }).map(String),
    fc.tuple(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 1, max: 30 })).map(([from, by]) => `${from}/${by}`),
  );
  const hourField = fc.oneof(
    fc.constant("*"),
    fc.integer({ min: 0, max: 23 }).map(String),
    fc.constantFrom("0-4", "1,2,3", "0/6"),
  );
  const matches = (field: string, value: number, max: number): boolean => {
    if (field === "*") return true;
    const [range = "", by] = field.split("/");
    if (by !== undefined) return value >= Number(range) && value <= max && (value - Number(range)) % Number(by) === 0;
    if (range.includes("-")) return value >= Number(range.split("-")[0]) && value <= Number(range.split("-")[1]);
    return range.split(",").map(Number).includes(value);
  };

  test("the runs of any cron are the minutes that match what the clocks show, each once", () => {
    fc.assert(
      fc.property(fc.constantFrom(...spans), minuteField, hourField, fc.nat(1440), (span, minute, hour, offset) => {
        const [zone, from, days] = span;
        const after = utc(from) + offset * 60_000;
        const expected = (shown.get(span) ?? [])
          .filter(({ instant }) => instant > after)
          .filter(({ wall }) => matches(minute, wall.getUTCMinutes(), 59) && matches(hour, wall.getUTCHours(), 23))
          .map(({ instant }) => instant);
        const more = expected.slice(0, 200);
        const found = nextRuns(plan(`cron(${minute} ${hour} * * ? *)`, zone), after, more.length || 1);
        if (more.length > 0) expect(found).toEqual(more);
        else expect(found[0] ?? Infinity).toBeGreaterThanOrEqual(utc(from) + days * 86_400_000);
      }),
      { numRuns: 60 },
    );
  });

  test("what the clocks show leads back to its instant, but for what they show twice", () => {
    fc.assert(
      fc.property(fc.constantFrom(...spans), fc.nat(2000), ([zone, from], minute) => {
        const instant = utc(from) + minute * 60_000;
        const back = instantOf(zone, wallTime(zone, instant));
        expect(back).toBeLessThanOrEqual(instant);
        expect(wallTime(zone, back ?? Number.NaN)).toBe(wallTime(zone, instant));
      }),
    );
  });
});
