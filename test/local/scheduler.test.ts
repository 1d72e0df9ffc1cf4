import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  CreateScheduleCommand,
  type CreateScheduleCommandInput,
  DeleteScheduleCommand,
  GetScheduleCommand,
  SchedulerClient,
} from "@aws-sdk/client-scheduler";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startAwsEndpoint } from "../../infra/local/aws_endpoint.ts";
import { localClient } from "../../infra/local/client_config.ts";
import { lambdaArn, Scheduler, schedulerRoleArn } from "../../infra/local/scheduler.ts";
import { moveClock } from "../clock.ts";

const group = "switchboard";
const target = { Arn: lambdaArn("run_schedule"), RoleArn: schedulerRoleArn };
const at = (ms: number) => `at(${new Date(Date.now() + ms).toISOString().slice(0, 19)})`;

let dir: string;
let scheduler: Scheduler;
let client: SchedulerClient;
let stopEndpoint: () => Promise<void>;

/** Starts the endpoint on what is in `dir`; again, when it has been stopped. */
async function start(): Promise<void> {
  scheduler = new Scheduler(dir);
  const { endpoint, stop } = await startAwsEndpoint([(request) => scheduler.service(request)]);
  client = new SchedulerClient(localClient(endpoint));
  stopEndpoint = stop;
}
async function stop(): Promise<void> {
  client.destroy();
  await stopEndpoint();
  await scheduler.stop(1_000);
  scheduler.close();
}
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "switchboard-scheduler-"));
  await start();
});
afterEach(async () => {
  await stop();
  rmSync(dir, { recursive: true });
});

const create = (more: Partial<CreateScheduleCommandInput> = {}) =>
  client.send(
    new CreateScheduleCommand({
      Name: "one",
      GroupName: group,
      ScheduleExpression: "cron(0 9 1 1 ? *)",
      FlexibleTimeWindow: { Mode: "OFF" },
      Target: target,
      ...more,
    }),
  );
const find = (Name = "one") => client.send(new GetScheduleCommand({ Name, GroupName: group }));
const remove = (Name = "one") => client.send(new DeleteScheduleCommand({ Name, GroupName: group }));
const named = (name: string) => expect.objectContaining({ name });

/** Begins to fire; each event of a run is pushed on the list, before `also` has its say. */
function firing(also: (count: number) => void = () => {}): unknown[] {
  const events: unknown[] = [];
  scheduler.start(async (name, event) => {
    expect(name).toBe("run_schedule");
    events.push(event);
    also(events.length);
  });
  return events;
}

describe("the API", () => {
  test("creates, shows and deletes a schedule", async () => {
    const { ScheduleArn } = await create({ StartDate: new Date("2090-01-01T00:00:00Z") });
    expect(ScheduleArn).toMatch(/^arn:aws:scheduler:[\w-]+:\d{12}:schedule\/switchboard\/one$/);
    expect(await find()).toMatchObject({
      Name: "one",
      ScheduleExpression: "cron(0 9 1 1 ? *)",
      ScheduleExpressionTimezone: "UTC",
      StartDate: new Date("2090-01-01T00:00:00Z"),
      Target: target,
    });
    await remove();
    await expect(find()).rejects.toEqual(named("ResourceNotFoundException"));
    await expect(remove()).rejects.toEqual(named("ResourceNotFoundException"));
  });

  test("answers the same request alike, and refuses another one under a name that is taken", async () => {
    const first = await create({ ClientToken: "t" });
    expect((await create({ ClientToken: "t" })).ScheduleArn).toBe(first.ScheduleArn);
    await expect(create({ ClientToken: "u" })).rejects.toEqual(named("ConflictException"));
    await expect(create()).rejects.toEqual(named("ConflictException"));
  });

  test("knows no other group than the stage's", async () => {
    await expect(create({ GroupName: "other" })).rejects.toEqual(named("ResourceNotFoundException"));
  });

  test.each<[string, Partial<CreateScheduleCommandInput>]>([
    ["a name of other letters", { Name: "客服一号" }],
    ["a name of 65 characters", { Name: "a".repeat(65) }],
    ["an expression that it doesn't know", { ScheduleExpression: "cron(0 9 * * *)" }],
    ["a rate that is written otherwise", { ScheduleExpression: "rate(1 minutes)" }],
    ["a time with a zone", { ScheduleExpression: "at(2090-01-01T09:00:00Z)" }],
    ["a time that has passed", { ScheduleExpression: "at(2020-01-01T09:00:00)" }],
    ["a zone that there is not", { ScheduleExpressionTimezone: "Asia/Peking" }],
    ["a start long ago", { StartDate: new Date(Date.now() - 6 * 60_000) }],
    ["an end that has passed", { EndDate: new Date(Date.now() - 60_000) }],
    ["a window without its minutes", { FlexibleTimeWindow: { Mode: "FLEXIBLE" } }],
    ["minutes without a window", { FlexibleTimeWindow: { Mode: "OFF", MaximumWindowInMinutes: 5 } }],
    ["a window of more than a day", { FlexibleTimeWindow: { Mode: "FLEXIBLE", MaximumWindowInMinutes: 1441 } }],
    ["a target that is no function", { Target: { ...target, Arn: "arn:aws:sqs:us-east-1:000000000000:q" } }],
  ])("refuses %s", async (_, more) => {
    await expect(create(more)).rejects.toEqual(named("ValidationException"));
  });
});

describe("its clock", () => {
  test("runs an at once, with its time filled in, and removes it if that was asked for", async () => {
    const expression = at(1_500);
    const Input = JSON.stringify({ scheduled_time: "<aws.scheduler.scheduled-time>" });
    await create({
      ScheduleExpression: expression,
      ActionAfterCompletion: "DELETE",
      Target: { ...target, Input },
    });
    const events = firing();
    await expect.poll(() => events, { timeout: 5_000 }).toEqual([{ scheduled_time: `${expression.slice(3, -1)}Z` }]);
    await expect(find()).rejects.toEqual(named("ResourceNotFoundException"));
  });

  test("runs a rate at once, then each time it has passed, and no more when it is deleted", async () => {
    const events = firing();
    await create({ ScheduleExpression: "rate(1 minute)" });
    await expect.poll(() => events).toHaveLength(1);
    moveClock(60_000);
    await expect.poll(() => events).toHaveLength(2);
    await remove();
    await create({ Name: "two", ScheduleExpression: at(120_000), Target: { ...target, Input: '{"two":true}' } });
    moveClock(180_000);
    await expect.poll(() => events).toHaveLength(3);
    expect(events[2]).toEqual({ two: true });
  });

  test("tries a run again that failed, as often as its policy says", async () => {
    const RetryPolicy = { MaximumRetryAttempts: 1 };
    const events = firing(() => {
      throw new Error("not now");
    });
    await create({ ScheduleExpression: "rate(1 hour)", Target: { ...target, RetryPolicy } });
    await expect.poll(() => events, { timeout: 5_000 }).toHaveLength(2);
    moveClock(600_000);
    await create({ Name: "two", ScheduleExpression: "rate(1 hour)", Target: { ...target, Input: '{"two":true}' } });
    await expect.poll(() => events.at(-1), { timeout: 5_000 }).toEqual({ two: true });
    expect(events).toHaveLength(3);
  });

  test("waits within the flexible window", async () => {
    const events = firing();
    await create({
      ScheduleExpression: "rate(1 day)",
      FlexibleTimeWindow: { Mode: "FLEXIBLE", MaximumWindowInMinutes: 1440 },
    });
    await create({ Name: "two", ScheduleExpression: "rate(7 days)", Target: { ...target, Input: '{"two":true}' } });
    await expect.poll(() => events).toEqual([{ two: true }]);
    moveClock(1441 * 60_000);
    await expect.poll(() => events.length).toBeGreaterThanOrEqual(2);
  });
});

describe("after a restart", () => {
  test("schedules are there, and what was due meanwhile runs once", async () => {
    await create({ ScheduleExpression: "rate(1 minute)", Target: { ...target, Input: '{"rate":1}' } });
    await create({ Name: "two", ScheduleExpression: at(3_600_000), Target: { ...target, Input: '{"at":1}' } });
    await stop();
    moveClock(2 * 3_600_000);
    await start();

    const events = firing();

    await expect.poll(() => events).toHaveLength(2);
    expect(events).toEqual(expect.arrayContaining([{ rate: 1 }, { at: 1 }]));
    moveClock(60_000);
    await expect.poll(() => events).toHaveLength(3);
    expect(events[2]).toEqual({ rate: 1 });
  });

  test("a run that was under way is delivered again", async () => {
    let reached = () => {};
    const under = new Promise<void>((resolve) => {
      reached = resolve;
    });
    scheduler.start(() => {
      reached();
      return new Promise(() => {}); // The process dies in the middle of it.
    });
    await create({ ScheduleExpression: "rate(1 hour)" });
    await under;
    client.destroy();
    await stopEndpoint();
    await scheduler.stop(0);
    scheduler.close();
    await start();
    const events = firing();
    await expect.poll(() => events).toHaveLength(1);
  });
});
