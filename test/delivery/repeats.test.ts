import { afterAll, describe, expect, test } from "vitest";
import { acts, byWebhook, unique } from "../acts.ts";
import { moveClock } from "../clock.ts";
import { startTestSystem } from "../system.ts";

/* A repeat under the same Idempotency-Key answers with the state of its effect as it is now. */

const system = await startTestSystem();
afterAll(() => system.stop());
const { tool } = system;
const { receive, register, reply, update } = acts(tool);

const once = (key: string, prefer = "respond-async") => ({ headers: { "idempotency-key": key, prefer } });

describe("call_agent", () => {
  async function asked(more = {}, profile = {}) {
    const [sender, receiver, key] = [await register("asker"), await register("writer", profile), unique("key")];
    const input = { session_id: unique("s"), user_name: "alice", sender, receiver, content: "Ready?", ...more };
    return { sender, receiver, ask: (prefer?: string) => tool("call_agent", input, once(key, prefer)) };
  }

  test("answers 202 at first, and the reply once it is there, also to one that would wait", async () => {
    const { receiver, ask } = await asked();
    const first = await ask();
    expect(await ask("wait=25")).toMatchObject({ status: 202, body: { call_id: first.body.call_id } });
    await reply(first.body.call_id, receiver, { content: "Ready." });
    expect(await ask()).toMatchObject({ status: 200, body: { content: "Ready.", call_id: first.body.call_id } });
    expect((await receive(receiver)).body.messages).toEqual([]);
  });

  test("answers how the call has ended: timed out by the clock, failed, withdrawn", async () => {
    const late = await asked({ deadline_s: 60 });
    const failing = await asked({}, byWebhook(await system.webhookAgent(() => ({ status: 404 }))));
    const withdrawn = await asked();
    const ids = await Promise.all([late, failing, withdrawn].map(async ({ ask }) => (await ask()).body.call_id));
    await tool("cancel_call", { call_id: ids[2], sender: withdrawn.sender });
    await expect.poll(async () => (await failing.ask()).status).toBe(502);
    moveClock(60_001);
    expect(await late.ask()).toMatchObject({
      status: 504,
      body: { call_id: ids[0], error: { type: "CALL_TIMED_OUT" } },
    });
    expect(await failing.ask()).toMatchObject({ body: { call_id: ids[1], error: { type: "CALL_FAILED" } } });
    expect(await withdrawn.ask()).toMatchObject({ body: { call_id: ids[2], error: { type: "CALL_CANCELLED" } } });
  });

  test("made again while the first still waits, answers at once, and the first gets the reply", async () => {
    const { receiver, ask } = await asked();
    const first = ask("wait=25");
    const { call_id } = (await receive(receiver, {}, 20)).body.messages[0] ?? {};
    expect(await ask("wait=25")).toMatchObject({ status: 202, body: { call_id } });
    await reply(String(call_id), receiver, { content: "Ready." });
    expect(await first).toMatchObject({ status: 200, body: { content: "Ready.", call_id } });
  });
});

test("assign_agent_work answers how each of its tasks stands by now", async () => {
  const [leader, a, b] = [await register("lead", { role: "director" }), await register("a"), await register("b")];
  const tasks = [a, b].map((executor) => ({ name: executor, executor, content: "Write." }));
  const names = { session_id: unique("s"), user_name: "alice", project_name: unique("site") };
  const key = unique("key");
  const assign = async () =>
    (await tool("assign_agent_work", { ...names, leader, content: "All.", tasks }, once(key))).body;
  const first = await assign();
  await update(String(first.tasks[0]?.task_id), a, "done", { detailed: "Here." });
  await update(String(first.tasks[1]?.task_id), b, "running", { detailed: "Half." });
  expect(await assign()).toMatchObject({
    assignment_id: first.assignment_id,
    tasks: [
      { task_id: first.tasks[0]?.task_id, status: "done", detailed: "Here." },
      { task_id: first.tasks[1]?.task_id, status: "running", detailed: "Half." },
    ],
  });
});

describe("register_agent", () => {
  test("shows the secret again, and rotates it once", async () => {
    const agent_name = unique("writer");
    const made = () => tool("register_agent", { agent_name, role: "member" }, once("made"));
    const rotated = () => tool("register_agent", { agent_name, role: "member", rotate_secret: true }, once("rotated"));
    const [first, again] = [(await made()).body, (await made()).body];
    expect(again).toEqual(first);
    expect(first).toMatchObject({
      created: true,
      secret_version: 1,
      webhook_secret: expect.stringContaining("whsec_"),
    });
    const rotations = await Promise.all(Array.from({ length: 5 }, rotated));
    const secrets = new Set(rotations.map(({ body }) => body.webhook_secret));
    expect([...secrets]).toEqual([expect.stringContaining("whsec_")]);
    expect(secrets).not.toContain(first.webhook_secret);
    expect(rotations.map(({ body }) => body.secret_version)).toEqual([2, 2, 2, 2, 2]);
  });
});

test("receive_messages leases nothing new, also when its first answer was lost, and closes a notice once", async () => {
  const [sender, receiver, session_id] = [await register("asker"), await register("writer"), unique("s")];
  const ask = (content: string) =>
    tool("call_agent", { session_id, user_name: "alice", sender, receiver, content }, once(unique("key")));
  const ids = [(await ask("1")).body.call_id, (await ask("2")).body.call_id];
  const get = (key: string, more: object = {}) =>
    tool("receive_messages", { agent_name: receiver, ...more }, once(key, ""));
  expect((await get("first")).body.messages).toMatchObject([{ content: "1", attempt: 1 }]);
  expect((await get("first")).body.messages).toMatchObject([{ content: "1", attempt: 1 }]);
  expect((await get("second")).body.messages).toMatchObject([{ content: "2" }]);
  expect((await get("third")).body.messages).toEqual([]);
  // What was found to be nothing is no effect: when there is something, the same key finds it.
  await ask("3");
  expect((await get("third")).body.messages).toMatchObject([{ content: "3" }]);
  await reply(String(ids[0]), receiver);
  expect((await get("first")).body.messages).toEqual([]);
  const [notice] = (await receive(sender)).body.messages;
  const ack = () => tool("receive_messages", { agent_name: sender, ack: [notice?.message_id] }, once("ack", ""));
  for (const { status, body } of [await ack(), await ack()]) expect([status, body.messages]).toEqual([200, []]);
});

test("a key of 255 characters works, and one that holds what separates the table's keys meets no other", async () => {
  const [sender, receiver] = [await register("asker"), await register("writer")];
  const ask = (key: string) =>
    tool("call_agent", { session_id: unique("s"), user_name: "alice", sender, receiver, content: key }, once(key));
  const keys = ["k".repeat(255), "a#b", "a%23b", "A#b", `${sender}#a`, "../a", "{}"];
  const answers = [];
  for (const key of keys) answers.push(await ask(key));
  expect(answers.map(({ status }) => status)).toEqual(keys.map(() => 202));
  expect(new Set(answers.map(({ body }) => body.call_id)).size).toBe(keys.length);
});
