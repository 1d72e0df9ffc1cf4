import { Cron } from "croner";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { nextRuns, readExpression } from "../../functions/_schedules/timing.ts";
import { nearestZone, zoneNamed } from "../../functions/_schedules/zone.ts";
import { plan, runs, utc } from "./plans.ts";

/* What EventBridge Scheduler takes for an expression or a zone ("Schedule types"), and what it means. */

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
