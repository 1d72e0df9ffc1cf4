import { GetScheduleCommand, SchedulerClient } from "@aws-sdk/client-scheduler";
import { afterAll, describe, expect, test } from "vitest";
import { localClient } from "../../infra/local/client_config.ts";
import { acts, unique } from "../acts.ts";
import { moveClock } from "../clock.ts";
import { startTestSystem } from "../system.ts";
import { scheduling } from "./work.ts";

const system = await startTestSystem();
const scheduler = new SchedulerClient(localClient(String(system.env.AWS_ENDPOINT_URL)));
afterAll(async () => {
  scheduler.destroy();
  await system.stop();
});
const { tool } = system;
const { register } = acts(tool);
const { listed, plan, team } = scheduling(system);

/** The trigger in EventBridge Scheduler, or the name of its refusal. */
async function triggerOf(scheduleId: string) {
  const { triggerName } = await import("../../functions/_table/keys.ts");
  const Name = triggerName("local", scheduleId);
  return scheduler
    .send(new GetScheduleCommand({ Name, GroupName: "switchboard" }))
    .catch((error: Error) => ({ ...error, Name: error.name }));
}

describe("schedule_agent_work", () => {
  test("answers with the next three runs, in its zone and in UTC", async () => {
    const names = await team();
    const more = { schedule: "cron(0 9 ? * MON-FRI *)", timezone: "Asia/Shanghai" };
    const { status, body } = await plan(names, { ...more, options: { start: "2090-03-10T00:00:00" } });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      code: 0,
      name: "每日简报",
      leader: names.leader,
      schedule: "cron(0 9 ? * MON-FRI *)",
      timezone: "Asia/Shanghai",
      start_at: "2090-03-09T16:00:00.000Z",
      status: "active",
      next_runs: [
        { local: "2090-03-10T09:00:00+08:00", utc: "2090-03-10T01:00:00.000Z" },
        { local: "2090-03-13T09:00:00+08:00", utc: "2090-03-13T01:00:00.000Z" },
        { local: "2090-03-14T09:00:00+08:00", utc: "2090-03-14T01:00:00.000Z" },
      ],
      tasks: [{ name: "简报", executor: names.executor }],
    });
    expect(body.session_id).toBe(body.schedule_id);
  });

  test("without a time zone counts in UTC, and says so", async () => {
    const { body } = await plan(await team(), { schedule: "at(2090-01-01T09:00:00)" });
    expect(body).toMatchObject({ timezone: "UTC", next_runs: [{ utc: "2090-01-01T09:00:00.000Z" }] });
  });

  test.each([
    ["at(2090-01-01T09:00:00.000Z)", "at(2090-01-01T17:00:00)", "2090-01-01T09:00:00.000Z"],
    ["at(2090-01-01T09:00:00+08:00)", "at(2090-01-01T09:00:00)", "2090-01-01T01:00:00.000Z"],
  ])("puts %s into the zone's own time", async (schedule, canonical, utc) => {
    const { body } = await plan(await team(), { schedule, timezone: "Asia/Shanghai" });
    expect(body).toMatchObject({ schedule: canonical, next_runs: [{ utc }] });
  });

  test("gives EventBridge Scheduler a trigger under a name that it takes, with all that was asked for", async () => {
    const more = { name: "客服/一号", schedule: "cron(0 9 * * ? *)", timezone: "Europe/London" };
    const options = { start: "2090-01-01T00:00:00", end: "2090-12-31T00:00:00Z", flexible_window_minutes: 15 };
    const { body } = await plan(await team(), { ...more, options });
    expect(await triggerOf(body.schedule_id)).toMatchObject({
      Name: expect.stringMatching(/^[0-9a-zA-Z-_.]{1,64}$/),
      ScheduleExpression: "cron(0 9 * * ? *)",
      ScheduleExpressionTimezone: "Europe/London",
      StartDate: new Date("2090-01-01T00:00:00Z"),
      EndDate: new Date("2090-12-31T00:00:00Z"),
      FlexibleTimeWindow: { Mode: "FLEXIBLE", MaximumWindowInMinutes: 15 },
      ActionAfterCompletion: "DELETE",
      Target: { RetryPolicy: { MaximumEventAgeInSeconds: 3600 } },
    });
  });

  test("takes a name of 65 characters, in any script", async () => {
    const name = "报".repeat(65);
    expect((await plan(await team(), { name })).body).toMatchObject({ name, status: "active" });
  });

  const wrong: [about: string, more: Record<string, unknown>, said: string, hint: string][] = [
    ["cron of five fields", { schedule: "cron(0 9 * * *)" }, "six fields", "cron(0 9 ? * MON-FRI *)"],
    ["cron without ?", { schedule: "cron(0 9 * * * *)" }, "must be ?", "cron(0 9 ? * MON-FRI *)"],
    ["cron that never comes", { schedule: "cron(0 9 30 2 ? *)" }, "never comes", "cron(0 9 ? * MON-FRI *)"],
    ["rate of seconds", { schedule: "rate(30 seconds)" }, "rate needs", "rate(15 minutes)"],
    ["words", { schedule: "every day at 9" }, "none of at(…), rate(…) and cron(…)", "cron(0 9 ? * MON-FRI *)"],
    ["bare cron", { schedule: "0 9 * * *" }, "none of", "rate(15 minutes)"],
    ["time that has passed", { schedule: "at(2020-01-01T09:00:00)" }, "has passed", "at(20"],
    ["day that is none", { schedule: "at(2027-02-30T09:00:00)" }, "no date and time", "at(2027-01-31T09:00:00)"],
    [
      "time that the clocks skip",
      { schedule: "at(2027-03-14T02:30:00)", timezone: "America/New_York" },
      "does not exist",
      "at(",
    ],
    ["zone of a city alone", { timezone: "Shanghai" }, "no time zone 'Shanghai'", "Asia/Shanghai"],
    ["offset for a zone", { timezone: "+08:00" }, "no time zone", "/"],
    [
      "start of an at",
      { schedule: "at(2090-01-01T09:00:00)", options: { start: "2089-01-01T00:00:00" } },
      "an at runs once",
      "without start",
    ],
    ["start that has passed", { options: { start: "2020-01-01T00:00:00" } }, "start has passed", "20"],
    [
      "end before the first run",
      { options: { start: "2090-12-01T00:00:00Z", end: "2090-12-01T00:00:01Z" } },
      "no run between",
      "end after",
    ],
    ["start without a time", { options: { start: "2027-01-01" } }, "no date and time", "T"],
  ];

  test.each(wrong)("refuses a %s, with a right example", async (_, more, said, hint) => {
    const { status, body } = await plan(await team(), more);
    expect({ status, type: body.error?.type }).toEqual({ status: 400, type: "INVALID_SCHEDULE" });
    expect(body.error?.message).toContain(said);
    expect(body.error?.hint).toContain(hint);
  });

  test("refuses a time that passed a second ago, and takes one that comes in two", async () => {
    const at = (ms: number) => `at(${new Date(Date.now() + ms).toISOString().slice(0, 19)})`;
    expect((await plan(await team(), { schedule: at(-1_000) })).body.error?.type).toBe("INVALID_SCHEDULE");
    expect((await plan(await team(), { schedule: at(2_500) })).status).toBe(200);
  });

  test.each([
    ["timezone", "null"],
    ["schedule", "none"],
    ["options", { start: "undefined" }],
    ["options", { flexible_window_minutes: 1441 }],
    ["options", { overlap: "replace" }],
    ["options", { begin: "2027-01-01T00:00:00" }],
    ["tasks", []],
    ["name", ""],
    ["name", "报".repeat(201)],
  ])("refuses %s = %j as it does everywhere", async (field, value) => {
    const { status, body } = await plan(await team(), { [field]: value });
    expect({ status, type: body.error?.type }).toEqual({ status: 400, type: "INVALID_INPUT" });
  });

  test("takes empty texts for absent ones", async () => {
    const { body } = await plan(await team(), { session_id: "", options: { start: "", end: "" } });
    expect(body).toMatchObject({ code: 0, end_at: "" });
  });

  test("lets only leaders schedule, and nobody for another", async () => {
    const names = await team();
    const refused = async (more: Record<string, unknown>, key?: string) =>
      (await plan(names, more, key === undefined ? {} : { key })).body.error;
    expect(await refused({ leader: names.executor })).toMatchObject({ type: "NOT_A_LEADER" });
    const near = await refused({ leader: `${names.leader}x` });
    expect(near).toMatchObject({ type: "LEADER_NOT_FOUND", hint: expect.stringContaining(names.leader) });
    const key = await system.createKey({ agents: [names.executor] });
    expect(await refused({}, key)).toMatchObject({ type: "IDENTITY_MISMATCH" });
    const may = await system.createKey({ scopes: ["schedule:write"] });
    expect(await refused({}, may)).toMatchObject({ type: "PERMISSION_DENIED" });
    expect(await listed(names.leader)).toEqual([]);
  });

  test("refuses a session of another user, and work that is too large for a record", async () => {
    const names = await team();
    const session_id = unique("s");
    const { executor } = names;
    await acts(tool).assign({ session_id, leader: names.leader, tasks: [{ name: "t", executor, content: "x" }] });
    expect((await plan(names, { session_id })).body.error?.type).toBe("SESSION_USER_MISMATCH");
    const tasks = Array.from({ length: 5 }, (_, n) => ({ name: `t${n}`, executor, content: "中".repeat(20_000) }));
    expect((await plan(names, { tasks })).body.error?.type).toBe("CONTENT_TOO_LARGE");
  });
});

describe("cancel_schedule", () => {
  test("removes the trigger; a repeat changes nothing", async () => {
    const names = await team();
    const { schedule_id } = (await plan(names, { name: "客服/一号" })).body;
    const cancel = () => tool("cancel_schedule", { schedule_id, leader: names.leader, reason: "Over." });

    const [first, second] = [await cancel(), await cancel()];

    expect(first).toMatchObject({ status: 200, body: { status: "cancelled", reason: "Over.", next_runs: [] } });
    expect(second.body).toEqual(first.body);
    expect(await triggerOf(schedule_id)).toMatchObject({ Name: "ResourceNotFoundException" });
    expect((await tool("list_schedules", { leader: names.leader })).body.schedules).toEqual([]);
    expect(await listed(names.leader)).toMatchObject([{ schedule_id, status: "cancelled" }]);
  });

  test("is for the leader who made it: others learn nothing, also of another workspace's", async () => {
    const names = await team();
    const { schedule_id } = (await plan(names)).body;
    const other = await register("other", { role: "director" });
    const foreign = await system.createKey({ workspace: "other" });
    const unknown = { schedule_id: "sch_1796029200000_0123456789ab", leader: names.leader };
    const answers = [
      await tool("cancel_schedule", { schedule_id, leader: other }),
      await tool("cancel_schedule", unknown),
      await tool("cancel_schedule", { schedule_id, leader: names.leader }, { key: foreign }),
      await tool("cancel_schedule", { ...unknown, schedule_id: "x#y" }),
    ];
    for (const { status, body } of answers)
      expect({ status, type: body.error?.type }).toEqual({ status: 404, type: "SCHEDULE_NOT_FOUND" });
    expect(await listed(names.leader)).toMatchObject([{ status: "active" }]);
  });

  test("is refused when no run is left", async () => {
    const names = await team();
    const { schedule_id } = (await plan(names, { schedule: "at(2090-01-01T09:00:00)" })).body;
    moveClock(Date.parse("2090-01-01T09:02:00Z") - Date.now());
    const { status, body } = await tool("cancel_schedule", { schedule_id, leader: names.leader });
    expect({ status, type: body.error?.type }).toEqual({ status: 409, type: "SCHEDULE_CLOSED" });
    expect(body).toMatchObject({ schedule_id, status: "ended", next_runs: [] });
  });
});

test("list_schedules pages through what fits", async () => {
  const [names, others] = [await team(), await team()];
  const ids: string[] = [];
  for (const who of [names, others, names, names]) {
    const { schedule_id } = (await plan(who)).body;
    if (who === names) ids.push(schedule_id);
  }
  const pages: string[][] = [];
  for (let cursor = "", more = true; more; more = cursor !== "") {
    const { body } = await tool("list_schedules", { leader: names.leader.toUpperCase(), cursor, limit: 2 });
    pages.push(body.schedules.map(({ schedule_id }) => schedule_id));
    cursor = body.next_cursor;
  }
  expect(pages.flat()).toEqual(ids);
  expect(pages[0]).toHaveLength(2);
  const byUser = await tool("list_schedules", { user_name: others.user_name });
  expect(byUser.body.schedules).toHaveLength(1);
  expect((await tool("list_schedules", { cursor: "x" })).body.error?.type).toBe("INVALID_CURSOR");
});
