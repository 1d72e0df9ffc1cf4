import { afterAll, expect, test } from "vitest";
import { acts, byWebhook, unique } from "../acts.ts";
import { moveClock } from "../clock.ts";
import { startTestSystem } from "../system.ts";

const system = await startTestSystem();
afterAll(() => system.stop());
const { tool } = system;
const { assign, call, receive, register, reply, statusOf, update } = acts(tool);

const idle = { session_id: "", project_name: "", task_name: "", todos: [], files: [], project_root_dir: "" };

test("an agent without a todo is idle", async () => {
  const agent_name = await register("writer");
  expect(await statusOf(agent_name)).toEqual({ code: 0, msg: "", agent_name, user_name: "alice", ...idle });
  expect(await statusOf(agent_name.toUpperCase())).toMatchObject({ agent_name });
});

test("an agent that nobody registered is answered with near matches, in the tool's shape", async () => {
  const name = await register("writer");
  const { status, body } = await tool("get_agent_status", { agent_name: `${name}s`, user_name: "alice" });
  expect(status).toBe(404);
  expect(body).toMatchObject({ code: 404, agent_name: `${name}s`, user_name: "alice", ...idle });
  expect(body.error).toMatchObject({ type: "AGENT_NOT_FOUND", details: { near_matches: [name] } });
  expect(body.error?.hint).toContain(`Did you mean ${name}?`);
});

test("calls and tasks are todos, oldest first, and the oldest says what the agent works on", async () => {
  const [leader, asker, agent] = [
    await register("lead", { role: "director" }),
    await register("asker"),
    await register("w"),
  ];
  const [first, second] = [unique("s"), unique("s")];
  const files = [{ name: "a.md" }];
  await tool("register_project", { user_name: "alice", project_name: "site", project_root_dir: "/srv/site" });

  const more = { project_name: "site", task_name: "names", files };
  const { call_id } = (await call({ session_id: first, sender: asker, receiver: agent, ...more })).body;
  moveClock(10);
  const tasks = ["copy", "tests"].map((name) => ({ name, executor: agent, content: "Do it." }));
  await assign({ session_id: second, leader, project_name: "site", tasks });
  moveClock(10);
  await assign({ session_id: second, leader, tasks: [{ name: "alone", executor: agent, content: "Do it." }] });

  const todos = ["site/copy", "site/tests", "alone"];
  expect(await statusOf(agent)).toMatchObject({
    session_id: first,
    project_name: "site",
    task_name: "names",
    todos: [`reply to ${asker}`, ...todos],
    files,
    project_root_dir: "/srv/site",
  });
  await reply(call_id, agent);
  expect(await statusOf(agent)).toMatchObject({ session_id: second, task_name: "copy", todos, files: [] });
});

test("a task that runs comes before those that wait", async () => {
  const [leader, agent, session_id] = [await register("lead", { role: "director" }), await register("w"), unique("s")];
  const tasks = ["t1", "t2", "t3"].map((name) => ({ name, executor: agent, content: "Do it." }));
  const { body } = await assign({ session_id, leader, project_name: "site", tasks });

  await update(body.tasks[1]?.task_id ?? "", agent, "running");

  expect(await statusOf(agent)).toMatchObject({ task_name: "t2", todos: ["site/t2", "site/t1", "site/t3"] });
});

test("work for another user is no more than a word", async () => {
  const [asker, agent] = [await register("asker"), await register("w")];
  const forBob = {
    session_id: unique("bob"),
    sender: asker,
    receiver: agent,
    user_name: "bob",
    project_name: "secret",
  };
  const { call_id } = (await call(forBob)).body;
  await call({ ...forBob, content: "One more." });

  expect(await statusOf(agent, "alice")).toMatchObject({ ...idle, todos: ["busy for another user"] });
  await call({ session_id: unique("s"), sender: asker, receiver: agent });
  const both = [`reply to ${asker}`, "busy for another user"];
  expect((await statusOf(agent, "alice")).todos).toEqual(both);
  expect((await statusOf(agent, "bob")).todos).toEqual([`reply to ${asker}`, ...both]);
  await reply(call_id, agent);
  expect((await statusOf(agent, "bob")).todos).toEqual(both);
});

test("what was delivered keeps an agent busy until it has answered", async () => {
  const webhook = await system.webhookAgent(() => ({ status: 202 }));
  const [asker, posted, inbox] = [
    await register("asker"),
    await register("p", byWebhook(webhook)),
    await register("i"),
  ];
  const calls = [posted, inbox].map((receiver) => call({ session_id: unique("s"), sender: asker, receiver }));
  await Promise.all([webhook.received(1), receive(inbox, {}, 20), ...calls]);
  for (const [index, agent] of [posted, inbox].entries()) {
    expect((await statusOf(agent)).todos).toEqual([`reply to ${asker}`]);
    await reply((await calls[index])?.body.call_id ?? "", agent);
    expect(await statusOf(agent)).toMatchObject(idle);
  }
});

test("replies and reports keep nobody busy", async () => {
  const [leader, agent] = [await register("lead", { role: "director" }), await register("w")];
  const { call_id } = (await call({ session_id: unique("s"), sender: leader, receiver: agent })).body;
  await reply(call_id, agent);
  const tasks = [{ name: "copy", executor: agent, content: "Write." }];
  const { body } = await assign({ session_id: unique("s"), leader, tasks });
  await update(body.tasks[0]?.task_id ?? "", agent, "done");

  expect(await statusOf(leader)).toMatchObject(idle);
  expect((await receive(leader, { limit: 10 })).body.messages.map(({ kind }) => kind)).toEqual(["reply", "report"]);
});

test("a call is no todo any more once its deadline is over by the clock", async () => {
  const [asker, agent] = [await register("asker"), await register("w")];
  const { call_id } = (await call({ session_id: unique("s"), sender: asker, receiver: agent, deadline_s: 30 })).body;
  moveClock(29_000);
  expect((await statusOf(agent)).todos).toEqual([`reply to ${asker}`]);
  moveClock(1_001);

  expect(await statusOf(agent)).toMatchObject(idle);
  expect((await receive(agent)).body.messages).toEqual([]);
  expect(await reply(call_id, agent)).toMatchObject({ status: 409, body: { error: { type: "CALL_CLOSED" } } });
  const found = await tool("get_call", { call_id, agent_name: asker });
  expect(found).toMatchObject({ status: 504, body: { status: "timed_out", error: { type: "CALL_TIMED_OUT" } } });
  expect(found.body.late_replies).toMatchObject([{ sender: agent, content: "Yes." }]);
});
