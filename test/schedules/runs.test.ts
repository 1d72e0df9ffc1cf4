import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { acts } from "../acts.ts";
import { moveClock } from "../clock.ts";
import { intercept, lost, throttled } from "../delivery/intercept.ts";
import { startTestSystem } from "../system.ts";
import { scheduling } from "./work.ts";

/* What one firing does, however often, late and out of order it comes. */

const system = await startTestSystem();
afterAll(() => system.stop());
const { tool } = system;
const { receive } = acts(tool);
const { finish, fire, listed, plan, tasksOf, team } = scheduling(system);

const at = (minute: number) => new Date(Date.UTC(2090, 0, 1, 9, minute)).toISOString();

/** A schedule whose runs come only from the test. */
async function planned(more: Record<string, unknown> = {}, options: { key?: string } = {}) {
  const names = await team();
  const { status, body } = await plan(names, more, options);
  if (status !== 200) throw new Error(body.msg);
  return { ...names, schedule_id: body.schedule_id };
}

const lastRun = async (leader: string) => {
  const [{ last_run_at, last_outcome, last_error, last_assignment_id } = {}] = await listed(leader);
  return { last_run_at, last_outcome, last_error, last_assignment_id };
};

/** Puts something between the functions and AWS until the test has ended. */
async function between(...args: Parameters<typeof intercept>): Promise<void> {
  onTestFinished(await intercept(...args));
}

describe("a firing", () => {
  test("assigns the work as the leader, and its task says which schedule it was", async () => {
    const { leader, executor, user_name, schedule_id } = await planned();

    await fire(schedule_id, at(0));

    const [task] = await tasksOf(user_name);
    expect(task).toMatchObject({ name: "简报", executor, leader, status: "assigned", schedule_id });
    const { messages } = (await receive(executor)).body;
    expect(messages).toMatchObject([{ kind: "task", sender: leader, content: "Good morning.\n\nWrite." }]);
    expect(await lastRun(leader)).toEqual({
      last_run_at: at(0),
      last_outcome: "started",
      last_error: "",
      last_assignment_id: task?.assignment_id,
    });
  });

  test("delivered five times at once makes one assignment, and so does a sixth delivery", async () => {
    const { leader, user_name, schedule_id } = await planned();
    await Promise.all(Array.from({ length: 5 }, () => fire(schedule_id, at(0))));
    await fire(schedule_id, at(0));
    expect(await tasksOf(user_name)).toHaveLength(1);
    expect(await lastRun(leader)).toMatchObject({ last_outcome: "started", last_run_at: at(0) });
  });

  test("delivered five times at once, with skip and with queue, is never taken for the one after it", async () => {
    for (const overlap of ["skip", "queue"]) {
      const { executor, user_name, leader, schedule_id } = await planned({ options: { overlap } });
      await fire(schedule_id, at(0));
      await finish(executor);
      await Promise.all(Array.from({ length: 5 }, () => fire(schedule_id, at(1))));
      await system.sweep(120);
      expect(await tasksOf(user_name)).toHaveLength(2);
      expect(await lastRun(leader)).toMatchObject({ last_outcome: "started", last_run_at: at(1) });
    }
  });

  test("hours late still runs once; one that a later run has overtaken doesn't", async () => {
    const { leader, executor, user_name, schedule_id } = await planned();
    moveClock(Date.parse(at(0)) + 5 * 3_600_000 - Date.now());
    await fire(schedule_id, at(1));
    await fire(schedule_id, at(1));
    await finish(executor);
    await fire(schedule_id, at(0));
    expect(await tasksOf(user_name)).toHaveLength(1);
    expect(await lastRun(leader)).toMatchObject({ last_run_at: at(1), last_outcome: "started" });
  });

  test("of a schedule that was cancelled, or never was, does nothing", async () => {
    const { leader, user_name, schedule_id } = await planned();
    await tool("cancel_schedule", { schedule_id, leader });
    await fire(schedule_id, at(0));
    await fire("sch_1796029200000_0123456789ab", at(0));
    await fire(schedule_id, at(0), "other");
    expect(await tasksOf(user_name)).toEqual([]);
  });

  test("that can't be read is refused aloud", async () => {
    await expect(fire("sch_1796029200000_0123456789ab", "now")).rejects.toThrow();
  });
});

describe("while the run before is open", () => {
  test("a run is skipped unless told otherwise, and says why; once it has ended, the next one runs", async () => {
    const { leader, executor, user_name, schedule_id } = await planned();
    await fire(schedule_id, at(0));

    await fire(schedule_id, at(1));

    expect(await lastRun(leader)).toEqual({
      last_run_at: at(1),
      last_outcome: "skipped",
      last_error: "The run before it had not ended.",
      last_assignment_id: "",
    });
    await finish(executor);
    await fire(schedule_id, at(2));
    expect(await lastRun(leader)).toMatchObject({ last_run_at: at(2), last_outcome: "started" });
    expect(await tasksOf(user_name)).toHaveLength(2);
  });

  test("one run queues and a further one is skipped; it starts when the work has ended", async () => {
    const { leader, executor, user_name, schedule_id } = await planned({ options: { overlap: "queue" } });
    await fire(schedule_id, at(0));
    await fire(schedule_id, at(1));
    expect(await lastRun(leader)).toMatchObject({ last_run_at: at(1), last_outcome: "queued" });
    await Promise.all([fire(schedule_id, at(1)), fire(schedule_id, at(2))]);
    expect(await lastRun(leader)).toMatchObject({ last_run_at: at(2), last_outcome: "skipped" });
    await system.sweep(120);
    expect(await tasksOf(user_name)).toHaveLength(1);

    await finish(executor);
    await Promise.all([system.sweep(120), system.sweep(120)]);

    expect(await tasksOf(user_name)).toMatchObject([{ status: "done" }, { status: "assigned" }]);
  });

  test("what has run out of time is over, whether or not it has been swept", async () => {
    const { user_name, schedule_id } = await planned({ options: { deadline_s: 60 } });
    await fire(schedule_id, at(0));
    moveClock(61_000);
    await fire(schedule_id, at(1));
    expect(await tasksOf(user_name)).toMatchObject([{ status: "timed_out" }, { status: "assigned" }]);
  });

  test("a run that waits is dropped with its schedule", async () => {
    const { leader, executor, user_name, schedule_id } = await planned({ options: { overlap: "queue" } });
    await fire(schedule_id, at(0));
    await fire(schedule_id, at(1));
    await tool("cancel_schedule", { schedule_id, leader });
    await finish(executor);
    await system.sweep(120);
    expect(await tasksOf(user_name)).toMatchObject([{ status: "done" }]);
  });
});

describe("a run that can't be started is recorded with the reason, and is not tried for hours", () => {
  test("when its leader is gone, or leads no more", async () => {
    const { leader, user_name, schedule_id } = await planned();
    await tool("register_agent", { agent_name: leader, role: "member" });
    await fire(schedule_id, at(0));
    expect(await lastRun(leader)).toMatchObject({
      last_outcome: "failed",
      last_error: expect.stringMatching(/^NOT_A_LEADER: /),
    });
    await tool("remove_agent", { agent_name: leader });
    await fire(schedule_id, at(1));
    expect(await lastRun(leader)).toMatchObject({
      last_outcome: "failed",
      last_error: expect.stringMatching(/^LEADER_NOT_FOUND: /),
    });
    expect(await tasksOf(user_name)).toEqual([]);
  });

  test("when the key that made it was revoked", async () => {
    const { revokeApiKey, parseToken } = await import("../../functions/_table/api_keys.ts");
    const key = await system.createKey();
    const { leader, schedule_id } = await planned({}, { key });
    await revokeApiKey("local", parseToken(key)?.id ?? "", Date.now());
    await fire(schedule_id, at(0));
    expect(await lastRun(leader)).toMatchObject({
      last_outcome: "failed",
      last_error: expect.stringMatching(/^KEY_REVOKED: /),
    });
  });

  test("when no executor takes it", async () => {
    const { leader, executor, schedule_id } = await planned();
    await tool("remove_agent", { agent_name: executor });
    await fire(schedule_id, at(0));
    const { last_outcome, last_error } = await lastRun(leader);
    expect({ last_outcome, last_error }).toMatchObject({
      last_outcome: "rejected",
      last_error: expect.stringMatching(/^There is no agent/),
    });
  });
});

describe("trouble that passes", () => {
  test("while the work is assigned: the run goes on with the next delivery, and assigns once", async () => {
    const { user_name, leader, schedule_id } = await planned();
    let broken = 2;
    await between("lambda", async ({ send }) => {
      const answer = await send(); // It ran, and the answer was lost.
      if (broken-- > 0) throw lost();
      return answer;
    });
    await expect(fire(schedule_id, at(0))).rejects.toThrow();
    expect(await lastRun(leader)).toMatchObject({ last_outcome: "starting" });
    await expect(fire(schedule_id, at(0))).rejects.toThrow();
    await fire(schedule_id, at(0));
    expect(await tasksOf(user_name)).toHaveLength(1);
    expect(await lastRun(leader)).toMatchObject({ last_outcome: "started" });
  });

  test("for which nothing is delivered again: sweep goes on with the run", async () => {
    const { user_name, leader, schedule_id } = await planned();
    const stop = await intercept("lambda", async () => {
      throw throttled();
    });
    await expect(fire(schedule_id, at(0))).rejects.toThrow();
    stop();
    await Promise.all([system.sweep(120), system.sweep(120)]);
    expect(await tasksOf(user_name)).toHaveLength(1);
    expect(await lastRun(leader)).toMatchObject({ last_outcome: "started" });
  });
});

describe("table and trigger don't drift apart", () => {
  const down = () =>
    intercept("scheduler", async () => {
      throw lost();
    });
  const triggers = async () => {
    const names: string[] = [];
    const stop = await intercept("scheduler", ({ name, send }) => {
      names.push(name);
      return send();
    });
    await system.sweep(120);
    stop();
    return names;
  };

  test("a schedule that was accepted while EventBridge Scheduler was away gets its trigger by sweep", async () => {
    const stop = await down();
    const { leader } = await planned();
    expect(await listed(leader)).toMatchObject([{ status: "active" }]);
    stop();
    expect(await triggers()).toEqual(["CreateScheduleCommand"]);
    expect(await triggers()).toEqual([]);
  });

  test("a trigger that was made although its answer was lost is not made twice", async () => {
    let broken = true;
    await between("scheduler", async ({ send }) => {
      const answer = await send();
      if (!broken) return answer;
      broken = false;
      throw lost();
    });
    const { leader } = await planned();
    expect(await triggers()).toEqual(["CreateScheduleCommand"]);
    expect(await listed(leader)).toMatchObject([{ status: "active" }]);
    expect(await triggers()).toEqual([]);
  });

  test("a trigger that could not be removed is removed by sweep, and runs nothing meanwhile", async () => {
    const { leader, user_name, schedule_id } = await planned();
    const stop = await down();
    expect((await tool("cancel_schedule", { schedule_id, leader })).body.status).toBe("cancelled");
    stop();
    await fire(schedule_id, at(0));
    expect(await tasksOf(user_name)).toEqual([]);
    expect(await triggers()).toEqual(["DeleteScheduleCommand"]);
    expect(await triggers()).toEqual([]);
  });

  test("a schedule that is cancelled while its trigger is being made has none in the end", async () => {
    const names = await team();
    const sent: string[] = [];
    await between("scheduler", async ({ name, send }) => {
      sent.push(name);
      if (name === "CreateScheduleCommand") {
        const [{ schedule_id } = { schedule_id: "" }] = await listed(names.leader);
        await tool("cancel_schedule", { schedule_id, leader: names.leader });
      }
      return send();
    });
    await plan(names);
    expect(sent).toEqual(["CreateScheduleCommand", "DeleteScheduleCommand", "DeleteScheduleCommand"]);
    expect(await listed(names.leader)).toMatchObject([{ status: "cancelled" }]);
  });

  test("a schedule that EventBridge Scheduler refuses leaves nothing, and a repeat is told the same", async () => {
    const names = await team();
    await between("scheduler", ({ input, send }) => {
      input.ScheduleExpression = "cron(* * * * *)";
      return send();
    });
    const headers = { "idempotency-key": "refused" };
    for (let n = 0; n < 2; n++) expect((await plan(names, {}, { headers })).body.error?.type).toBe("INVALID_SCHEDULE");
    expect(await listed(names.leader)).toEqual([]);
    expect(await triggers()).toEqual([]);
  });
});

test("repeats under one Idempotency-Key make one schedule", async () => {
  const names = await team();
  const options = { headers: { "idempotency-key": "once" } };
  const answers = await Promise.all(Array.from({ length: 10 }, () => plan(names, {}, options)));
  expect(new Set(answers.map(({ body }) => body.schedule_id)).size).toBe(1);
  expect(await listed(names.leader)).toHaveLength(1);
});
