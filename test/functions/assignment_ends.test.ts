import { afterAll, describe, expect, test } from "vitest";
import { acts, byWebhook, unique } from "../acts.ts";
import { moveClock } from "../clock.ts";
import { startTestSystem } from "../system.ts";

const system = await startTestSystem();
afterAll(() => system.stop());
const { tool } = system;
const { assign, receive, register, statusOf, update } = acts(tool);

const tasksFor = (executors: readonly string[]) =>
  executors.map((executor, n) => ({ name: `t${n}`, executor, content: "Do it." }));

/** Hands out one task to each executor; the leader has an inbox unless told otherwise. */
async function handOut(executors: readonly string[], { leaderProfile = {}, ...more }: Record<string, unknown> = {}) {
  const leader = await register("lead", { role: "director", ...(leaderProfile as object) });
  const input = { session_id: unique("s"), user_name: unique("alice"), leader, tasks: tasksFor(executors), ...more };
  const { body } = await assign(input);
  return { ...input, assignment_id: body.assignment_id, ids: body.tasks.map(({ task_id }) => task_id) };
}

/** Everything that the leader has been told and not yet closed. */
const inboxOf = async (agent: string) => (await receive(agent, { limit: 10 })).body.messages;
const statuses = async (user_name: string) =>
  (await tool("get_project", { user_name })).body.tasks.map(({ status }) => status);

describe("the report", () => {
  test("comes once, with each task's end, when the last of them has ended in whatever way", async () => {
    const executors = await Promise.all(["a", "b", "c", "d"].map((name) => register(name)));
    const { leader, user_name, session_id, assignment_id, ids } = await handOut(executors);
    const [a, b, c, d] = executors as [string, string, string, string];

    await update(String(ids[0]), a, "done", { detailed: "Good." });
    await update(String(ids[1]), b, "failed", { detailed: "Broken." });
    await update(String(ids[2]), c, "rejected", { detailed: "Not mine." });
    await update(String(ids[3]), d, "running");
    expect(await inboxOf(leader)).toEqual([]);
    await tool("cancel_task", { task_id: ids[3], leader, reason: "Enough." });

    const messages = await inboxOf(leader);
    expect(messages).toMatchObject([{ kind: "report", assignment_id, session_id, user_name, status: "ended" }]);
    expect(messages[0]?.tasks.map(({ status, detailed }) => [status, detailed])).toEqual([
      ["done", "Good."],
      ["failed", "Broken."],
      ["rejected", "Not mine."],
      ["cancelled", "Enough."],
    ]);
    expect(messages[0]?.source_ref).toBe(`switchboard://assignments/${assignment_id}`);
  });

  test("names the tasks that were rejected from the start too", async () => {
    const [executor, coach] = [await register("a"), await register("coach", { role: "master" })];
    const { leader, ids } = await handOut([coach, executor]);
    await update(String(ids[1]), executor, "done", { detailed: "Good." });
    const [report] = await inboxOf(leader);
    expect(report?.tasks.map(({ status }) => status)).toEqual(["rejected", "done"]);
  });

  test("is posted once to a leader with a webhook", async () => {
    const webhook = await system.webhookAgent(() => ({}));
    const executor = await register("a");
    const { leader, assignment_id, ids } = await handOut([executor, executor], { leaderProfile: byWebhook(webhook) });
    await Promise.all(ids.map((id) => update(id, executor, "done")));
    await webhook.received(1);
    expect(webhook.deliveries[0]?.body).toMatchObject({ type: "report", data: { assignment_id, receiver: leader } });
    // Taken, it is no open message any more: there is nothing left to post.
    await expect.poll(() => tool("remove_agent", { agent_name: leader })).toMatchObject({ status: 200 });
    expect(webhook.deliveries).toHaveLength(1);
  });

  test("comes once when 20 tasks end at the same moment", async () => {
    const executors = await Promise.all(Array.from({ length: 20 }, (_, n) => register(`worker${n}`)));
    const { leader, user_name, ids } = await handOut(executors);

    const updates = await Promise.all(
      ids.map((id, n) => update(id, String(executors[n]), "done", { detailed: `${n}` })),
    );

    expect(updates.map(({ status, body }) => [status, body.status])).toEqual(Array(20).fill([200, "done"]));
    expect(await statuses(user_name)).toEqual(Array(20).fill("done"));
    const messages = await inboxOf(leader);
    expect(messages.map(({ kind }) => kind)).toEqual(["report"]);
    expect(messages[0]?.tasks.map(({ detailed }) => detailed)).toEqual(executors.map((_, n) => `${n}`));
  });

  test("comes once when both ways of ending a task meet, and the task has one end", async () => {
    const executor = await register("a");
    const { leader, user_name, ids } = await handOut(Array(10).fill(executor));

    const races = ids.flatMap((task_id) => [
      update(task_id, executor, "done"),
      tool("cancel_task", { task_id, leader }),
    ]);
    const outcomes = (await Promise.all(races)).map(({ status }) => status);

    expect(outcomes.filter((status) => status === 200)).toHaveLength(10);
    expect(outcomes.filter((status) => status === 409)).toHaveLength(10);
    for (const status of await statuses(user_name)) expect(["done", "cancelled"]).toContain(status);
    expect((await inboxOf(leader)).map(({ kind }) => kind)).toEqual(["report"]);
  });
});

describe("a leader that waits", () => {
  test("gets each task's end in the answer, and no report", async () => {
    const webhook = await system.webhookAgent(({ body }) => ({ body: { content: `Did ${body.data.task_name}.` } }));
    const executors = [await register("a", byWebhook(webhook)), await register("b", byWebhook(webhook))];
    const leader = await register("lead", { role: "director" });

    const { status, headers, body } = await assign({ session_id: unique("s"), leader, tasks: tasksFor(executors) }, 20);

    expect([status, headers.get("preference-applied")]).toEqual([200, "wait=20"]);
    expect(body.tasks).toMatchObject([
      { status: "done", detailed: "Did t0." },
      { status: "done", detailed: "Did t1." },
    ]);
    expect(await inboxOf(leader)).toEqual([]);
  });

  test("gets the state so far when the wait is over, and the report later", async () => {
    const [leader, a, b] = [await register("lead", { role: "director" }), await register("a"), await register("b")];
    const answer = assign({ session_id: unique("s"), leader, tasks: tasksFor([a, b]) }, 1);
    const { task_id = "" } = (await receive(a, {}, 20)).body.messages[0] ?? {};
    await update(task_id, a, "done", { detailed: "Good." });

    const { status, body } = await answer;
    expect([status, body.code]).toEqual([200, 0]);
    expect(body.tasks).toMatchObject([{ status: "done", detailed: "Good." }, { status: "assigned" }]);
    expect(await inboxOf(leader)).toEqual([]);

    await update(body.tasks[1]?.task_id ?? "", b, "done");
    expect((await inboxOf(leader)).map(({ kind }) => kind)).toEqual(["report"]);
  });
});

describe("a deadline", () => {
  test("ends a task by the clock; sweep records it and makes the one report", async () => {
    const executor = await register("a");
    const { leader, user_name, ids } = await handOut([executor, executor], { deadline_s: 1 });
    await update(String(ids[0]), executor, "done");
    moveClock(1_001);

    expect(await statuses(user_name)).toEqual(["done", "timed_out"]);
    expect((await statusOf(executor, user_name)).todos).toEqual([]);
    expect(await inboxOf(executor)).toEqual([]);
    const late = await update(String(ids[1]), executor, "done");
    expect(late).toMatchObject({ status: 409, body: { status: "timed_out", error: { type: "TASK_CLOSED" } } });
    expect(await inboxOf(leader)).toEqual([]);

    await system.sweep();
    await Promise.all([system.sweep(), system.sweep()]);

    const messages = await inboxOf(leader);
    expect(messages.map(({ kind }) => kind)).toEqual(["report"]);
    expect(messages[0]?.tasks.map(({ status }) => status)).toEqual(["done", "timed_out"]);
    expect(messages[0]?.tasks[1]?.detailed).not.toBe("");
    expect(await statuses(user_name)).toEqual(["done", "timed_out"]);
  });

  test("is moved on by an update, and ends the task when no further one comes", async () => {
    const executor = await register("a");
    const { leader, user_name, ids } = await handOut([executor], { deadline_s: 60 });
    moveClock(40_000);
    await update(String(ids[0]), executor, "running");
    moveClock(40_000);
    await system.sweep();
    expect(await statuses(user_name)).toEqual(["running"]);
    expect((await statusOf(executor, user_name)).todos).toEqual(["t0"]);

    moveClock(21_000);
    expect(await statuses(user_name)).toEqual(["timed_out"]);
    await system.sweep();
    expect(await inboxOf(leader)).toMatchObject([{ kind: "report", tasks: [{ status: "timed_out" }] }]);
  });

  test("is not moved back by an update", async () => {
    const executor = await register("a");
    const { ids } = await handOut([executor], { deadline_s: 3_600 });
    const { body } = await update(String(ids[0]), executor, "running");
    expect(Date.parse(body.deadline_at) - Date.now()).toBeGreaterThan(3_500_000);
  });
});
