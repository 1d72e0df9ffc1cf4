import { afterAll, describe, expect, test } from "vitest";
import { acts, byWebhook, unique } from "../acts.ts";
import { moveClock } from "../clock.ts";
import { startTestSystem } from "../system.ts";

const system = await startTestSystem();
afterAll(() => system.stop());
const { tool } = system;
const { assign, call, receive, register, reply, update } = acts(tool);

const leaseMs = 5 * 60_000;
const contentsOf = ({ body }: Awaited<ReturnType<typeof receive>>) => body.messages.map(({ content }) => content);

/** A caller and a receiver with an inbox, and a way to send a call without waiting for its answer. */
async function pair() {
  const [sender, receiver] = [await register("asker"), await register("writer")];
  const send = async (session_id: string, content = "?", more = {}) =>
    (await call({ session_id, sender, receiver, content, ...more })).body.call_id;
  return { sender, receiver, send };
}

/** An agent whose inbox holds one notice: the reply to a call that it did not wait for. */
async function notified() {
  const { sender, receiver, send } = await pair();
  const call_id = await send(unique("s"));
  await reply(call_id, receiver);
  return { agent: sender, call_id };
}

describe("receive_messages", () => {
  test("gives each session's messages in their order, and of several sessions the oldest first", async () => {
    const { receiver, send } = await pair();
    const [first, second] = [unique("s"), unique("s")];
    for (const [session, content] of [
      [first, "1"],
      [second, "2"],
      [first, "3"],
      [second, "4"],
      [second, "5"],
    ] as const) {
      await send(session, content);
      moveClock(10);
    }

    expect(contentsOf(await receive(receiver))).toEqual(["1"]);
    expect(contentsOf(await receive(receiver, { limit: 3 }))).toEqual(["2", "3", "4"]);
    expect(contentsOf(await receive(receiver, { limit: 10 }))).toEqual(["5"]);
    expect(contentsOf(await receive(receiver, { limit: 10 }))).toEqual([]);
  });

  test("gives only one session's messages when asked to", async () => {
    const { receiver, send } = await pair();
    const [first, second] = [unique("s"), unique("s")];
    await send(first, "1");
    await send(second, "2");
    expect(contentsOf(await receive(receiver, { session_id: second, limit: 10 }))).toEqual(["2"]);
    expect(contentsOf(await receive(receiver, { session_id: unique("s"), limit: 10 }))).toEqual([]);
    expect(contentsOf(await receive(receiver, { limit: 10 }))).toEqual(["1"]);
  });

  test("gives each message to one of several workers that ask at the same moment", async () => {
    const { receiver, send } = await pair();
    const session = unique("s");
    for (const n of [1, 2, 3, 4, 5, 6]) await send(session, `${n}`);

    const workers = await Promise.all(Array.from({ length: 6 }, () => receive(receiver, {}, 20)));

    expect(workers.flatMap(contentsOf).sort()).toEqual(["1", "2", "3", "4", "5", "6"]);
  });

  test("waits, and answers as soon as a message has come", async () => {
    const { receiver, send } = await pair();
    const start = performance.now();
    const waiting = receive(receiver, {}, 25);
    await send(unique("s"), "Here.");
    expect(contentsOf(await waiting)).toEqual(["Here."]);
    expect(performance.now() - start).toBeLessThan(10_000);
  });

  test("answers with nothing when the wait is over", async () => {
    const { status, headers, body } = await receive(await register("idle"), {}, 1);
    expect([status, headers.get("preference-applied")]).toEqual([200, "wait=1"]);
    expect(body).toEqual({ code: 0, msg: "", agent_name: expect.any(String), messages: [] });
  });

  test("finds the agent in whatever case its name is written", async () => {
    const { receiver, send } = await pair();
    await send(unique("s"), "Here.");
    const { body } = await receive(receiver.toUpperCase());
    expect(body).toMatchObject({ agent_name: receiver, messages: [{ content: "Here." }] });
  });

  test("is not for an agent with a webhook, nor for one that nobody registered", async () => {
    const agent = await register("posted", byWebhook(await system.webhookAgent(() => ({}))));
    expect(await receive(agent)).toMatchObject({ status: 409, body: { error: { type: "NOT_AN_INBOX_AGENT" } } });
    expect(await receive(`${agent}x`)).toMatchObject({
      status: 404,
      body: { messages: [], error: { type: "AGENT_NOT_FOUND", details: { near_matches: [agent] } } },
    });
  });
});

describe("a lease", () => {
  test("hides a message for five minutes; then it comes again, before what came after it", async () => {
    const { sender, receiver, send } = await pair();
    const session = unique("s");
    const call_id = await send(session, "1");
    await send(session, "2");
    const [message] = (await receive(receiver)).body.messages;
    expect(Math.abs(Date.parse(message?.lease_expires_at ?? "") - Date.now() - leaseMs)).toBeLessThan(10_000);
    expect(message?.attempt).toBe(1);

    moveClock(leaseMs + 1_000);

    const { messages } = (await receive(receiver, { limit: 10 })).body;
    expect(messages.map(({ content, attempt }) => [content, attempt])).toEqual([
      ["1", 2],
      ["2", 1],
    ]);
    const { body } = await tool("get_call", { call_id, agent_name: sender });
    expect(body).toMatchObject({ status: "delivered", attempts: [{ number: 1 }, { number: 2 }] });
  });

  test("that is renewed begins anew; one that is over can't be", async () => {
    const { receiver, send } = await pair();
    await send(unique("s"));
    const ids = (await receive(receiver)).body.messages.map(({ message_id }) => message_id);
    moveClock(leaseMs - 10_000);
    expect((await receive(receiver, { renew: ids })).status).toBe(200);
    moveClock(leaseMs - 10_000);
    expect((await receive(receiver)).body.messages).toEqual([]);

    moveClock(11_000);
    const refused = await receive(receiver, { renew: ids });

    expect(refused).toMatchObject({ status: 409, body: { messages: [], error: { type: "LEASE_LOST" } } });
    expect((await receive(receiver)).body.messages).toMatchObject([{ message_id: ids[0], attempt: 2 }]);
    const unknown = await receive(receiver, { renew: ["call_1"] });
    expect(unknown).toMatchObject({ status: 404, body: { error: { type: "MESSAGE_NOT_FOUND" } } });
  });

  test("of a task ends when the task runs: it does not come again", async () => {
    const [leader, executor] = [await register("lead", { role: "director" }), await register("worker")];
    const tasks = [{ name: "copy", executor, content: "Write." }];
    await assign({ session_id: unique("s"), leader, tasks });
    const { task_id = "" } = (await receive(executor)).body.messages[0] ?? {};

    expect((await update(task_id, executor, "running")).status).toBe(200);

    moveClock(leaseMs + 1_000);
    expect((await receive(executor)).body.messages).toEqual([]);
    expect((await update(task_id, executor, "done")).status).toBe(200);
  });

  test("is given five times; then the call has failed, and its sender is told", async () => {
    const { sender, receiver, send } = await pair();
    const call_id = await send(unique("s"), "?", { deadline_s: 86_400 });
    for (const attempt of [1, 2, 3, 4, 5]) {
      expect((await receive(receiver)).body.messages).toMatchObject([{ call_id, attempt }]);
      moveClock(leaseMs + 1_000);
    }

    expect((await receive(receiver)).body.messages).toEqual([]);

    const ended = await tool("get_call", { call_id, agent_name: sender });
    const error = { type: "CALL_FAILED", retryable: false };
    expect(ended).toMatchObject({ status: 502, body: { status: "failed", next_action: "", error } });
    expect(ended.body.attempts).toHaveLength(5);
    expect((await receive(sender)).body.messages).toMatchObject([{ kind: "reply", call_id, status: "failed" }]);
    expect(await reply(call_id, receiver)).toMatchObject({ status: 409, body: { error: { type: "CALL_CLOSED" } } });
  });
});

describe("ack", () => {
  test("closes a notice for good, leased or not, and may be repeated", async () => {
    const { agent } = await notified();
    const [message] = (await receive(agent)).body.messages;
    const ack = [String(message?.message_id)];

    for (const _ of [1, 2])
      expect(await receive(agent, { ack })).toMatchObject({ status: 200, body: { messages: [] } });

    moveClock(leaseMs + 1_000);
    expect((await receive(agent)).body.messages).toEqual([]);
  });

  test("a notice that is not acknowledged comes again", async () => {
    const { agent, call_id } = await notified();
    await receive(agent);
    moveClock(leaseMs + 1_000);
    expect((await receive(agent)).body.messages).toMatchObject([{ kind: "reply", call_id, attempt: 2 }]);
  });

  test("of a call or a task is refused, and what was named beside it stays open", async () => {
    const { agent } = await notified();
    const [other, leader] = [await register("other"), await register("lead", { role: "director" })];
    await call({ session_id: unique("s"), sender: other, receiver: agent });
    await assign({ session_id: unique("s"), leader, tasks: [{ name: "copy", executor: agent, content: "Write." }] });
    const { messages } = (await receive(agent, { limit: 10 })).body;
    const [notice, ...asking] = messages.map(({ message_id }) => message_id);
    expect(messages.map(({ kind }) => kind)).toEqual(["reply", "call", "task"]);

    for (const id of asking) {
      const refused = await receive(agent, { ack: [notice, id] });
      expect(refused).toMatchObject({ status: 409, body: { error: { type: "NOT_A_NOTICE" } } });
    }

    moveClock(leaseMs + 1_000);
    expect((await receive(agent, { limit: 10 })).body.messages.map(({ kind }) => kind)).toEqual([
      "reply",
      "call",
      "task",
    ]);
  });

  test("of what is another's or nobody's is refused", async () => {
    const [{ agent }, other] = [await notified(), await register("other")];
    const [message] = (await receive(agent)).body.messages;
    for (const ack of [[String(message?.message_id)], ["note_1"], [""]]) {
      const refused = await receive(other, { ack });
      expect(refused).toMatchObject({ status: 404, body: { error: { type: "MESSAGE_NOT_FOUND" } } });
    }
  });
});
