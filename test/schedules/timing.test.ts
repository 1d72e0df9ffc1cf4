import { Cron } from "croner";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { nextRuns, type Plan, readExpression } from "../../functions/_schedules/timing.ts";
import { instantOf, localIso, nearestZone, wallTime, zoneNamed } from "../../functions/_schedules/zone.ts";

/*
 * What EventBridge Scheduler documents ("Schedule types", "Daylight savings time"): a time that the clocks skip does
 * not run that day, one that they show twice runs once, a rate counts elapsed time. Under two zones of this process.
 */

const utc = (text: string) => Date.parse(`${text}Z`);
const plan = (expression: string, timezone: string, more: Partial<Plan> = {}): Plan => ({
  expression,
  timezone,
  start_at: utc("2000-01-01T00:00:00"),
  ...more,
});
const runs = (expression: string, timezone: string, after: string, count = 3, more: Partial<Plan> = {}) =>
  nextRuns(plan(expression, timezone, more), utc(after), count).map((run) => new Date(run).toISOString().slice(0, 16));

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

describe("a cron expression", () => {
  test.each([
    ["the month's last day", "0 9 L * ? *", ["2027-01-31T09:00", "2027-02-28T09:00", "2027-03-31T09:00"]],
    ["the weekday nearest to the 16th", "0 9 16W * ? *", ["2027-01-15T09:00", "2027-02-16T09:00", "2027-03-16T09:00"]],
    ["the weekday nearest to the 1st, within its month", "0 9 1W 5 ? *", ["2027-05-03T09:00"]],
    ["weekday 1 is Sunday", "0 9 ? * 1 *", ["2027-01-03T09:00", "2027-01-10T09:00"]],
    ["weekday 7 is Saturday, as is a lone L", "0 9 ? * L *", ["2027-01-02T09:00", "2027-01-09T09:00"]],
    ["the last Friday", "0 9 ? * 6L *", ["2027-01-29T09:00", "2027-02-26T09:00"]],
    ["the last Friday, by name", "0 9 ? * FRIL *", ["2027-01-29T09:00", "2027-02-26T09:00"]],
    ["the second Tuesday", "0 9 ? * 3#2 *", ["2027-01-12T09:00", "2027-02-09T09:00"]],
    ["the fifth Monday, in months that have one", "0 9 ? * MON#5 *", ["2027-03-29T09:00", "2027-05-31T09:00"]],
    ["working days", "0 9 ? * MON-FRI *", ["2027-01-01T09:00", "2027-01-04T09:00", "2027-01-05T09:00"]],
    ["every tenth minute from the first", "1/10 0 * * ? *", ["2027-01-01T00:01", "2027-01-01T00:11"]],
    ["each third month", "0 0 1 */3 ? *", ["2027-04-01T00:00", "2027-07-01T00:00"]],
    ["names and numbers", "0 0 1 feb,4 ? 2027-2028", ["2027-02-01T00:00", "2027-04-01T00:00", "2028-02-01T00:00"]],
    ["the 29th of February", "0 0 29 2 ? *", ["2028-02-29T00:00", "2032-02-29T00:00"]],
  ])("knows %s: %s", (_, fields, expected) => {
    expect(runs(`cron(${fields})`, "UTC", "2027-01-01T00:00:00", expected.length)).toEqual(expected);
  });

  test.each([
    ["0 9 * * *", "six fields"],
    ["0 9 * * * *", "exactly one of day-of-month and day-of-week must be ?"],
    ["0 9 ? * ? *", "exactly one of day-of-month and day-of-week must be ?"],
    ["60 9 * * ? *", "'60' is not in the minutes field, which takes 0 to 59"],
    ["0 24 * * ? *", "hours"],
    ["0 9 32 * ? *", "day-of-month"],
    ["0 9 ? * 0 *", "'0' is not in the day-of-week field, which takes 1 to 7 or SUN to SAT"],
    ["0 9 ? * FRI-MON *", "day-of-week"],
    ["0 9 ? * 3#6 *", "day-of-week"],
    ["0 9 * 13 ? *", "month"],
    ["0 9 * * ? 1969", "year"],
    ["0/0 9 * * ? *", "minutes"],
    ["0 9 L-1 * ? *", "day-of-month"],
    ["*-5 9 * * ? *", "minutes"],
    ["0 9 */ * ? *", "day-of-month"],
    ["@daily", "six fields"],
  ])("is refused with its reason: %s", (fields, reason) => {
    expect(() => readExpression(`cron(${fields})`, "UTC")).toThrow(reason);
  });

  /** The same in Scheduler's words and in croner's, which counts weekdays from 0 and knows no `a/n`. */
  const field = (min: number, max: number, shift = 0) =>
    fc.oneof(
      fc.constant(["*", "*"]),
      fc
        .uniqueArray(fc.integer({ min, max }), { minLength: 1, maxLength: 4 })
        .map((values) => [values.join(","), values.map((value) => value + shift).join(",")]),
      fc.tuple(fc.integer({ min, max }), fc.integer({ min, max })).map((pair) => {
        const [from, to] = [Math.min(...pair), Math.max(...pair)];
        return [`${from}-${to}`, `${from + shift}-${to + shift}`];
      }),
      fc
        .tuple(fc.integer({ min, max: max - 1 }), fc.integer({ min: 1, max: 7 }))
        .map(([from, by]) => [`${from}/${by}`, `${from + shift}-${max + shift}/${by}`]),
    );
  const days = fc.oneof(
    fc
      .oneof(
        fc.constant(["L", "L"]),
        fc.integer({ min: 1, max: 28 }).map((date) => [`${date}W`, `${date}W`]),
        field(1, 31),
      )
      .map(([ours, theirs]) => [`${ours} * ?`, `${theirs} * *`]),
    fc
      .oneof(
        fc.constant(["L", "6"]),
        fc.integer({ min: 1, max: 7 }).map((day) => [`${day}L`, `${day - 1}#L`]),
        fc
          .tuple(fc.integer({ min: 1, max: 7 }), fc.integer({ min: 1, max: 5 }))
          .map(([day, nth]) => [`${day}#${nth}`, `${day - 1}#${nth}`]),
        field(1, 7, -1),
      )
      .map(([ours, theirs]) => [`? * ${ours}`, `* * ${theirs}`]),
  );

  test("is read as croner reads the same in its own words, where there is no clock change", () => {
    fc.assert(
      fc.property(field(0, 59), field(0, 23), days, fc.nat(3_000), (minute, hour, day, offset) => {
        const from = utc("2027-01-01T00:00:00") + offset * 86_400_000;
        const theirs = new Cron(`0 ${minute[1]} ${hour[1]} ${day[1]} *`, {
          timezone: "UTC",
          mode: "7-part",
          paused: true,
        });
        expect(nextRuns(plan(`cron(${minute[0]} ${hour[0]} ${day[0]} *)`, "UTC"), from, 20)).toEqual(
          theirs.nextRuns(20, new Date(from)).map((run) => run.getTime()),
        );
      }),
      { numRuns: 300 },
    );
  });

  test("that no day fulfils has no next run, and that is found quickly", () => {
    const from = performance.now();
    expect(runs("cron(0 0 30 2 ? *)", "UTC", "2027-01-01T00:00:00")).toEqual([]);
    expect(runs("cron(0 0 1 1 ? 2026)", "UTC", "2027-01-01T00:00:00")).toEqual([]);
    expect(performance.now() - from).toBeLessThan(2_000);
  });
});

describe("other expressions", () => {
  test.each([
    ["rate(1 minute)", "rate(1 minute)"],
    ["rate(1 minutes)", "rate(1 minute)"],
    [" rate( 2 hour ) ", "rate(2 hours)"],
    ["at(2027-01-01T09:00:00.000Z)", "at(2027-01-01T17:00:00)"],
    ["at(2027-01-01T09:00:00+09:00)", "at(2027-01-01T08:00:00)"],
    ["at(2027-01-01T09:00:00)", "at(2027-01-01T09:00:00)"],
    ["cron(0  9 * * ? *)", "cron(0 9 * * ? *)"],
  ])("%s is written as %s in Shanghai", (given, canonical) => {
    expect(readExpression(given, "Asia/Shanghai").text).toBe(canonical);
  });

  test.each([
    "rate(0 minutes)",
    "rate(1.5 hours)",
    "rate(5)",
    "rate(5 weeks)",
    "rate(30 seconds)",
    "rate(999999999 days)",
    "at(2027-02-30T09:00:00)",
    "at(2027-01-01)",
    "at(2027-01-01T25:00:00)",
    "at(tomorrow)",
    "every day at 9",
    "0 9 * * *",
    "",
  ])("%s is refused", (expression) => {
    expect(() => readExpression(expression, "UTC")).toThrow(expect.objectContaining({ name: "TimingError" }));
  });

  test("start and end bound the runs", () => {
    const more = { start_at: utc("2027-01-05T00:00:00"), end_at: utc("2027-01-06T09:00:00") };
    expect(runs("cron(0 9 * * ? *)", "UTC", "2027-01-01T00:00:00", 5, more)).toEqual([
      "2027-01-05T09:00",
      "2027-01-06T09:00",
    ]);
    expect(runs("rate(1 day)", "UTC", "2027-01-01T00:00:00", 5, more)).toEqual([
      "2027-01-05T00:00",
      "2027-01-06T00:00",
    ]);
  });
});

describe("a zone", () => {
  test("is known by its IANA name, in the case that it has there", () => {
    expect(zoneNamed("asia/shanghai")).toBe("Asia/Shanghai");
    expect(zoneNamed("Asia/Kolkata")).toBe("Asia/Kolkata");
    expect(zoneNamed("UTC")).toBe("UTC");
    for (const wrong of ["+08:00", "Asia/Peking", "Beijing", "", "Shanghai"]) expect(zoneNamed(wrong)).toBeUndefined();
  });

  test("that is unknown has a near one", () => {
    expect(nearestZone("Shanghai")).toBe("Asia/Shanghai");
    expect(nearestZone("America/NewYork")).toBe("America/New_York");
    expect(nearestZone("new york")).toBe("America/New_York");
  });
});
