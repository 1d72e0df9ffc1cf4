import { afterAll, expect, test } from "vitest";
import { acts, byWebhook, unique } from "../acts.ts";
import { moveClock } from "../clock.ts";
import { startTestSystem } from "../system.ts";

/* What an attack on the running system found, and must not find again. */

const system = await startTestSystem({ DELIVERY_ATTEMPTS: "1", CALLS_PER_PAIR_MINUTE: "1000" });
afterAll(() => system.stop());
const { tool } = system;
const { assign, call, receive, register, reply, statusOf, update } = acts(tool);

test("messages that have ended by the clock keep nobody from calling", async () => {
  const [sender, receiver, session_id] = [await register("a"), await register("b"), unique("s")];
  await Promise.all(Array.from({ length: 64 }, () => call({ session_id, sender, receiver, deadline_s: 60 })));
  expect((await call({ session_id, sender, receiver })).body.error?.type).toBe("INBOX_FULL");
  moveClock(61_000);
  expect((await statusOf(receiver)).todos).toEqual([]);
  expect((await call({ session_id, sender, receiver })).status).toBe(202);
});

test("replies that nobody has read keep nobody from calling", async () => {
  const [sender, receiver, session_id] = [await register("a"), await register("b"), unique("s")];
  for (let n = 0; n < 65; n++) {
    const { body } = await call({ session_id, sender, receiver });
    expect((await reply(body.call_id, receiver)).status).toBe(200);
  }
  expect((await call({ session_id, sender: receiver, receiver: sender })).status).toBe(202);
});

test("the id of a notice opens no call", async () => {
  const [sender, receiver] = [await register("a"), await register("b")];
  const { call_id } = (await call({ session_id: unique("s"), sender, receiver })).body;
  await reply(call_id, receiver);
  const note = String((await receive(sender)).body.messages[0]?.message_id);
  const forged = note.replace(/^note_/, "call_");
  expect((await reply(forged, sender)).body).toMatchObject({ code: 404, error: { type: "CALL_NOT_FOUND" } });
  expect((await tool("get_call", { call_id: forged, agent_name: sender })).status).toBe(404);
  expect((await receive(sender, { renew: [note] })).status).toBe(200);
});

test.each([500, 400])(
  "a task that its executor has taken up is not failed by the webhook's status %i",
  async (status) => {
    const leader = await register("lead", { role: "director" });
    const webhook = await system.webhookAgent(async ({ body }) => {
      const { task_id, receiver } = body.data;
      expect((await update(String(task_id), String(receiver), "running")).status).toBe(200);
      return { status };
    });
    const skill = unique("skill");
    const executor = await register("worker", { skills: [skill], ...byWebhook(webhook) });
    const tasks = [{ name: "t", executor, content: "Do it." }];
    const { assignment_id } = (await assign({ session_id: unique("s"), leader, tasks, project_name: unique("p") }))
      .body;
    await webhook.received(1);
    const { task_id } = (await assignmentOf(assignment_id)) ?? {};
    const seen = async () => (await tool("list_agents", { skill })).body.agents[0];
    await expect.poll(async () => (await seen())?.last_delivery_error).toMatch(/status/);
    expect((await update(String(task_id), executor, "done")).body).toMatchObject({ code: 0, status: "done" });
  },
);

const assignmentOf = async (assignment_id: string) =>
  (await tool("get_project", { user_name: "alice", assignment_id })).body.tasks[0];

test("a repeat promises no message while the first request still waits for the reply", async () => {
  const [sender, receiver, session_id] = [await register("a"), await register("b"), unique("s")];
  const input = { session_id, user_name: "alice", sender, receiver, content: "?" };
  const headers = { "idempotency-key": unique("k"), prefer: "wait=10" };
  const first = tool("call_agent", input, { headers });
  await expect.poll(async () => (await statusOf(receiver)).todos).toHaveLength(1);
  const repeat = (await tool("call_agent", input, { headers })).body;
  expect(repeat.code).toBe(202);
  expect(repeat.msg).toContain("get_call");
  expect(repeat.msg).not.toContain("as a message");
  await reply(repeat.call_id, receiver);
  expect((await first).body).toMatchObject({ code: 0, content: "Yes." });
  expect((await receive(sender)).body.messages).toEqual([]);
});

test("a status names 200 todos and how many more there are", async () => {
  const [leader, executor] = [await register("lead", { role: "director" }), await register("worker")];
  const tasks = Array.from({ length: 40 }, (_, n) => ({ name: `t${n}`, executor, content: "Do it." }));
  await Promise.all(Array.from({ length: 6 }, () => assign({ session_id: unique("s"), leader, tasks })));
  const { todos } = await statusOf(executor);
  expect(todos).toHaveLength(201);
  expect(todos.at(-1)).toBe("… and 40 more");
});
