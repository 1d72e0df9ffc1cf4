import { afterAll, expect, test } from "vitest";
import { acts } from "../acts.ts";
import { startTestSystem } from "../system.ts";

/*
 * Lambda passes on 6 MB, and a body goes out as a string inside JSON: a quotation mark of a text takes four bytes
 * there, a control character seven. The local gateway counts as Lambda does and answers 500 beyond.
 */

const system = await startTestSystem();
afterAll(() => system.stop());
const { tool } = system;
const { assign, call, receive, register, reply, update } = acts(tool);

const quotes = '"'.repeat(64 * 1024);
const controls = "\u0001".repeat(64 * 1024);

const lead = await register("lead", { role: "director" });
const executor = await register("executor");
const project = { user_name: "alice", project_name: "large" };
await tool("register_project", { ...project, description: quotes, files: [{ demand: '"'.repeat(30_000) }] });

test("the results of many tasks are shown whole page by page, and cut with a mark where it must be one answer", async () => {
  const tasks = Array.from({ length: 24 }, (_, index) => ({ name: `t${index}`, executor, content: "Please." }));
  const order = { session_id: "s", leader: lead, project_name: "large", tasks };
  const key = { headers: { "idempotency-key": "many" } };
  const input = { user_name: "alice", content: "Please begin.", ...order };
  const { body } = await tool("assign_agent_work", input, key);
  await Promise.all(body.tasks.map(({ task_id }) => update(task_id, executor, "done", { detailed: quotes })));

  const again = await tool("assign_agent_work", input, key);
  expect(again.status).toBe(200);
  expect(again.body.tasks).toHaveLength(24);
  for (const { status, detailed } of again.body.tasks) {
    expect(status).toBe("done");
    expect(detailed).toMatch(/^"{4000} … \[cut; get_project has all of it\]$/);
  }

  const shown: string[] = [];
  let cursor = "";
  do {
    const page = await tool("get_project", { ...project, cursor });
    expect(page.status).toBe(200);
    expect(page.body.description).toBe(quotes);
    for (const { name, detailed } of page.body.tasks) if (detailed === quotes) shown.push(name);
    cursor = page.body.next_cursor;
  } while (cursor !== "");
  expect(shown).toEqual(tasks.map(({ name }) => name));
});

test("one small result comes whole, also with an assignment", async () => {
  const task = { name: "t", executor, content: "Please." };
  const waiting = assign({ session_id: "s-1", leader: lead, tasks: [task] }, 20);
  const { messages } = (await receive(executor, { session_id: "s-1" }, 20)).body;
  await update(messages[0]?.task_id ?? "", executor, "done", { detailed: quotes });
  expect((await waiting).body.tasks[0]).toMatchObject({ status: "done", detailed: quotes });
});

test("replies that did not count never keep a call from being read", async () => {
  const { call_id } = (await call({ session_id: "s-2", sender: lead, receiver: executor })).body;
  await reply(call_id, executor, { content: "The answer." });
  for (let late = 0; late < 15; late++) await reply(call_id, executor, { content: controls });
  const { status, body } = await tool("get_call", { call_id, agent_name: lead });
  expect(status).toBe(200);
  expect(body.content).toBe("The answer.");
  expect(body.late_replies.length).toBeGreaterThan(5);
  for (const { content, sender } of body.late_replies)
    expect({ content, sender }).toEqual({ content: controls, sender: executor });
});

test("an inbox hands out as many messages as fit, and the rest the next time", async () => {
  const receiver = await register("receiver");
  const sizes = Array.from({ length: 10 }, (_, index) => index);
  const large = { content: controls, files: [{ demand: '"'.repeat(30_000) }] };
  await Promise.all(sizes.map((index) => call({ session_id: `s-${index}`, sender: lead, receiver, ...large })));
  const fetch = async () => {
    const { status, body } = await receive(receiver, { limit: 10 });
    expect(status).toBe(200);
    for (const { content } of body.messages) expect(content).toBe(controls);
    return body.messages.length;
  };
  const [first, second] = [await fetch(), await fetch()];
  expect(first).toBeGreaterThan(5);
  expect([first + second, await fetch()]).toEqual([10, 0]);
});
