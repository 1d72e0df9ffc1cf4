import { afterAll, describe, expect, test } from "vitest";
import { acts, byWebhook, unique } from "../acts.ts";
import { moveClock } from "../clock.ts";
import { startTestSystem } from "../system.ts";
import { tableItems } from "../table_items.ts";

const system = await startTestSystem();
afterAll(() => system.stop());
const { tool } = system;
const { assign, call, receive, register, reply, statusOf, update } = acts(tool);

/** A leader, an executor, and a session and user of their own. */
async function team() {
  const [leader, executor] = [await register("lead", { role: "director" }), await register("Writer")];
  return { leader, executor, session_id: unique("s"), user_name: unique("alice") };
}

const task = (executor: string, name = "copy") => ({ name, executor, content: `Do ${name}.` });
const tasksOf = async (user_name: string, more = {}) => (await tool("get_project", { user_name, ...more })).body.tasks;

describe("who may hand out work", () => {
  test("a master may, as a director", async () => {
    const { executor, session_id } = await team();
    const leader = await register("coach", { role: "master" });
    const { body } = await assign({ session_id, leader, tasks: [task(executor)] });
    expect(body.tasks).toMatchObject([{ status: "assigned" }]);
  });

  test("a member, an unknown leader and a session's other user may not, and nothing is written", async () => {
    const { leader, executor, session_id, user_name } = await team();
    const tasks = [task(executor)];
    await assign({ session_id, user_name, leader, tasks });
    const before = await tableItems();

    const refusals = [
      await assign({ session_id, user_name, leader: executor, tasks: [task(leader)] }),
      await assign({ session_id, user_name, leader: `${leader}x`, tasks }),
      await assign({ session_id, user_name: "bob", leader, tasks }),
    ];

    expect(refusals.map(({ status, body }) => [status, body.error?.type])).toEqual([
      [403, "NOT_A_LEADER"],
      [404, "LEADER_NOT_FOUND"],
      [409, "SESSION_USER_MISMATCH"],
    ]);
    expect(refusals[1]?.body.error?.details).toMatchObject({ near_matches: expect.arrayContaining([leader]) });
    expect(await tableItems()).toEqual(before);
  });
});

describe("each task is judged on its own", () => {
  test("an executor is found in whatever case its name is written", async () => {
    const { leader, executor, session_id } = await team();
    const { body } = await assign({ session_id, leader, tasks: [task(executor.toUpperCase())] });
    expect(body.tasks).toMatchObject([{ status: "assigned", executor }]);
    expect((await statusOf(executor)).todos).toEqual(["copy"]);
  });

  test("an unknown executor is answered with the name that may have been meant", async () => {
    const { leader, executor, session_id } = await team();
    const { status, body } = await assign({ session_id, leader, tasks: [task(`${executor}s`), task(executor)] });
    expect(status).toBe(200);
    expect(body.tasks).toMatchObject([
      { status: "rejected", task_id: "", detailed: expect.stringContaining(executor) },
      { status: "assigned" },
    ]);
  });

  test("the leader is rejected in whatever case its name is written", async () => {
    const { leader, session_id } = await team();
    const { body } = await assign({ session_id, leader, tasks: [task(leader.toUpperCase())] });
    expect(body.tasks).toMatchObject([{ status: "rejected", detailed: expect.stringContaining("is the leader") }]);
  });

  test("an agent whose call the leader has yet to answer is rejected, until it has its answer", async () => {
    const { leader, executor, session_id } = await team();
    const { call_id } = (await call({ session_id, sender: executor, receiver: leader })).body;

    const meanwhile = await assign({ session_id, leader, tasks: [task(executor)] });
    const elsewhere = await assign({ session_id: unique("s"), leader, tasks: [task(executor)] });
    await reply(call_id, leader);
    const after = await assign({ session_id, leader, tasks: [task(executor)] });

    const reason = expect.stringContaining("reply to it directly");
    expect(meanwhile.body).toMatchObject({ code: 0, tasks: [{ status: "rejected", detailed: reason }] });
    expect(elsewhere.body.tasks).toMatchObject([{ status: "assigned" }]);
    expect(after.body.tasks).toMatchObject([{ status: "assigned" }]);
  });

  test("no task and none that is accepted leave nothing behind", async () => {
    const { leader, session_id, user_name } = await team();
    const before = await tableItems();
    for (const tasks of [[], [task(leader)]]) {
      const { status, body } = await assign({ session_id, user_name, leader, tasks });
      expect([status, body.code, body.assignment_id]).toEqual([200, 0, ""]);
    }
    expect(await tableItems()).toEqual(before);
  });

  test("an executor takes what fits into its 64 open messages of a session; the rest is rejected", async () => {
    const { leader, executor, session_id } = await team();
    const many = (count: number) => Array.from({ length: count }, (_, n) => task(executor, `t${n}`));
    await assign({ session_id, leader, tasks: many(40) });
    const { body } = await assign({ session_id, leader, tasks: many(26) });
    expect(body.tasks.map(({ status }) => status)).toEqual([...Array(24).fill("assigned"), "rejected", "rejected"]);
    expect(body.tasks.at(-1)?.detailed).toContain("64 open messages");
  });
});

test("40 tasks go out at once, each with the message for all, in the order they were given", async () => {
  const { leader, session_id, user_name } = await team();
  const executors = await Promise.all([1, 2, 3, 4].map((n) => register(`worker${n}`)));
  const tasks = Array.from({ length: 40 }, (_, n) => task(String(executors[n % 4]), `第${n}项`));

  const { body } = await assign({ session_id, user_name, leader, content: "**All hands.**", tasks });

  expect(body.tasks.map(({ name, status }) => [name, status])).toEqual(tasks.map(({ name }) => [name, "assigned"]));
  expect(new Set(body.tasks.map(({ task_id }) => task_id)).size).toBe(40);
  const listed = await tasksOf(user_name);
  expect(listed.map(({ task_id }) => task_id)).toEqual(body.tasks.map(({ task_id }) => task_id));
  for (const [index, executor] of executors.entries()) {
    const { messages } = (await receive(executor, { limit: 10 })).body;
    const mine = tasks.filter((_, n) => n % 4 === index);
    expect(messages.map(({ content }) => content)).toEqual(mine.map(({ content }) => `**All hands.**\n\n${content}`));
  }
});

test("41 tasks are refused as a whole", async () => {
  const { leader, executor, session_id } = await team();
  const tasks = Array.from({ length: 41 }, (_, n) => task(executor, `t${n}`));
  const { status, body } = await assign({ session_id, leader, tasks });
  expect(status).toBe(400);
  expect(body).toMatchObject({ code: 400, tasks: [], error: { type: "INVALID_INPUT" } });
  expect(body.msg).toContain("tasks");
  expect((await statusOf(executor)).todos).toEqual([]);
});

describe("a task", () => {
  async function assigned(executorProfile = {}) {
    const { leader, session_id, user_name } = await team();
    const executor = await register("Worker", executorProfile);
    const { body } = await assign({ session_id, user_name, leader, tasks: [task(executor)] });
    return { leader, executor, user_name, task_id: body.tasks[0]?.task_id ?? "", assignment_id: body.assignment_id };
  }

  test("moves its deadline on with each update", async () => {
    const { executor, task_id } = await assigned();
    const first = (await update(task_id, executor, "running")).body;
    moveClock(60_000);
    const second = (await update(task_id, executor, "running", { detailed: "Half of it." })).body;
    expect(second).toMatchObject({ status: "running", detailed: "Half of it." });
    expect(Date.parse(second.deadline_at)).toBeGreaterThanOrEqual(Date.parse(first.deadline_at) + 60_000);
  });

  test("is no other agent's to update, and its executor may be written in any case", async () => {
    const { leader, executor, task_id } = await assigned();
    for (const other of [leader, await register("other"), unique("nobody")]) {
      const refused = await update(task_id, other, "done");
      expect(refused).toMatchObject({ status: 404, body: { error: { type: "TASK_NOT_FOUND" } } });
    }
    expect((await update(task_id, executor.toLowerCase(), "done")).body).toMatchObject({ status: "done", executor });
  });

  test("ends once: a later update or withdrawal is refused and says how it ended", async () => {
    const { leader, executor, task_id } = await assigned();
    await update(task_id, executor, "failed", { detailed: "No access.", files: ["log.txt"] });

    const refusals = [
      await update(task_id, executor, "done", { detailed: "After all." }),
      await update(task_id, executor, "running"),
      await tool("cancel_task", { task_id, leader }),
    ];

    for (const { status, body } of refusals) {
      const error = { type: "TASK_CLOSED", details: { status: "failed" } };
      expect({ status, body }).toMatchObject({
        status: 409,
        body: { status: "failed", detailed: "No access.", error },
      });
    }
  });

  test("is ended as done by a webhook that answers with content", async () => {
    const webhook = await system.webhookAgent(() => ({ body: { content: "两句都好了。", files: ["home.md"] } }));
    const { executor, user_name, task_id } = await assigned(byWebhook(webhook));
    await expect.poll(() => tasksOf(user_name)).toMatchObject([{ status: "done", detailed: "两句都好了。" }]);
    expect(webhook.deliveries[0]?.body).toMatchObject({ type: "task", data: { task_id, receiver: executor } });
    expect((await statusOf(executor, user_name)).todos).toEqual([]);
  });

  test("is taken by a webhook that accepts it, and ended by update_task", async () => {
    const webhook = await system.webhookAgent(() => ({ status: 202 }));
    const { executor, user_name, task_id } = await assigned(byWebhook(webhook));
    await webhook.received(1);
    expect(await tasksOf(user_name)).toMatchObject([{ status: "assigned" }]);
    expect((await update(task_id, executor, "rejected", { detailed: "Not mine." })).body.status).toBe("rejected");
    expect(await tasksOf(user_name)).toMatchObject([{ status: "rejected", detailed: "Not mine." }]);
    expect(webhook.deliveries).toHaveLength(1);
  });

  test("is withdrawn by its leader; an executor that has it learns so, and a repeat changes nothing", async () => {
    const { leader, executor, user_name, task_id } = await assigned();
    await receive(executor);
    const withdraw = () => tool("cancel_task", { task_id, leader, reason: "Changed plans." });

    const [first, second] = [await withdraw(), await withdraw()];

    expect(first).toMatchObject({ status: 200, body: { status: "cancelled", detailed: "Changed plans." } });
    expect(second).toEqual({ ...first, headers: second.headers });
    expect((await statusOf(executor, user_name)).todos).toEqual([]);
    const { messages } = (await receive(executor, { limit: 10 })).body;
    expect(messages).toMatchObject([{ kind: "task", task_id, status: "cancelled", detailed: "Changed plans." }]);
  });

  test("that its executor has not seen yet is withdrawn without a message, and by nobody but its leader", async () => {
    const { leader, executor, task_id } = await assigned();
    for (const other of [executor, unique("nobody")]) {
      expect((await tool("cancel_task", { task_id, leader: other })).body.error?.type).toBe("TASK_NOT_FOUND");
    }
    expect((await tool("cancel_task", { task_id, leader: leader.toUpperCase() })).status).toBe(200);
    expect((await receive(executor, { limit: 10 })).body.messages).toEqual([]);
  });
});

describe("get_project", () => {
  test("pages through the tasks of a project, and through those of one assignment", async () => {
    const { leader, executor, session_id, user_name } = await team();
    const ids: string[] = [];
    let assignment_id = "";
    for (const count of [2, 5]) {
      const tasks = Array.from({ length: count }, (_, n) => task(executor, `t${n}`));
      const { body } = await assign({ session_id, user_name, leader, project_name: "site", tasks });
      ids.push(...body.tasks.map(({ task_id }) => task_id));
      assignment_id = body.assignment_id;
    }
    const pages = async (of: object) => {
      const found: string[][] = [];
      for (let cursor = "", more = true; more; more = cursor !== "") {
        const { body } = await tool("get_project", { user_name, ...of, cursor, limit: 3 });
        found.push(body.tasks.map(({ task_id }) => task_id));
        cursor = body.next_cursor;
      }
      return found;
    };

    expect(await pages({ project_name: "site" })).toEqual([ids.slice(0, 3), ids.slice(3, 6), ids.slice(6)]);
    expect(await pages({ assignment_id })).toEqual([ids.slice(2, 5), ids.slice(5)]);
  });

  test("answers for another user's assignment, an unknown project and a foreign cursor with a reason", async () => {
    const { leader, executor, session_id, user_name } = await team();
    const { assignment_id } = (await assign({ session_id, user_name, leader, tasks: [task(executor)] })).body;
    const refused = async (input: object) => (await tool("get_project", input)).body.error?.type;
    expect(await refused({ user_name: "bob", assignment_id })).toBe("ASSIGNMENT_NOT_FOUND");
    expect(await refused({ user_name, project_name: "nope" })).toBe("PROJECT_NOT_FOUND");
    expect(await refused({ user_name, cursor: "x" })).toBe("INVALID_CURSOR");
    expect(await refused({ user_name, assignment_id, cursor: `${"1".repeat(13)}_${"a".repeat(12)}` })).toBe(
      "INVALID_CURSOR",
    );
  });
});
