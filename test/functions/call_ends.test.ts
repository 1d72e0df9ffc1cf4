import { afterAll, describe, expect, test } from "vitest";
import { acts, unique } from "../acts.ts";
import { moveClock } from "../clock.ts";
import { startTestSystem } from "../system.ts";

const system = await startTestSystem();
afterAll(() => system.stop());
const { tool } = system;
const { call, receive, register, reply } = acts(tool);

/** A call that its receiver has on lease; `waitS` says how long its sender waits. */
async function called({ waitS = 0, ...more }: Record<string, unknown> & { waitS?: number } = {}) {
  const [sender, receiver] = [await register("asker"), await register("writer")];
  const answer = call({ session_id: unique("s"), sender, receiver, ...more }, waitS);
  const { call_id = "" } = (await receive(receiver, {}, 20)).body.messages[0] ?? {};
  return { sender, receiver, call_id, answer };
}

const found = (call_id: string, agent_name: string) => tool("get_call", { call_id, agent_name });
const inboxOf = async (agent: string) => (await receive(agent, { limit: 10 })).body.messages;
const typesOf = (answers: { status: number; body: { error?: { type: string } } }[]) =>
  answers.map(({ status, body }) => `${status} ${body.error?.type}`);

describe("a reply", () => {
  test("lands once: a second one gets CALL_CLOSED, the first stays, and the second is kept on the record", async () => {
    const { sender, receiver, call_id } = await called();
    await reply(call_id, receiver, { content: "First." });

    const second = await reply(call_id, receiver, { content: "Second." });

    expect(typesOf([second])).toEqual(["409 CALL_CLOSED"]);
    const { body } = await found(call_id, sender);
    expect(body).toMatchObject({ code: 0, content: "First.", status: "answered" });
    expect(body.late_replies).toMatchObject([{ sender: receiver, content: "Second." }]);
    expect(await inboxOf(sender)).toMatchObject([{ kind: "reply", content: "First." }]);
  });

  test("of several at the same moment lands once, and its sender is told once", async () => {
    const { sender, receiver, call_id } = await called();

    const replies = await Promise.all(["a", "b", "c", "d"].map((content) => reply(call_id, receiver, { content })));

    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
    const { body } = await found(call_id, sender);
    expect(body.late_replies).toHaveLength(3);
    expect([body.content, ...body.late_replies.map(({ content }) => content)].sort()).toEqual(["a", "b", "c", "d"]);
    expect(await inboxOf(sender)).toMatchObject([{ kind: "reply", content: body.content }]);
  });

  test("of another agent does not count, and the call stays open for the right one", async () => {
    const { sender, receiver, call_id } = await called();
    const stranger = await register("stranger");

    expect(typesOf([await reply(call_id, stranger), await reply(call_id, sender)])).toEqual([
      "409 CALL_CLOSED",
      "409 CALL_CLOSED",
    ]);

    expect((await reply(call_id, receiver.toUpperCase())).status).toBe(200);
    const { body } = await found(call_id, receiver);
    expect(body.late_replies.map((late) => late.sender).sort()).toEqual([sender, stranger].sort());
  });
});

test("a call is shown to its two agents and to nobody else", async () => {
  const { sender, receiver, call_id } = await called();
  for (const party of [sender, receiver.toUpperCase()]) expect((await found(call_id, party)).status).toBe(202);
  const refusals = [await found(call_id, await register("stranger")), await found(`${call_id.slice(0, -1)}x`, sender)];
  expect(typesOf(refusals)).toEqual(["404 CALL_NOT_FOUND", "404 CALL_NOT_FOUND"]);
});

describe("a deadline", () => {
  test("that ends while the sender waits is told in the answer, and by no message", async () => {
    const { sender, receiver, call_id, answer } = await called({ waitS: 20, deadline_s: 1 });
    moveClock(1_001);

    expect(await answer).toMatchObject({
      status: 504,
      body: { code: 504, call_id, sender: receiver, receiver: sender, content: "", error: { type: "CALL_TIMED_OUT" } },
    });

    await system.sweep();
    expect(await inboxOf(sender)).toEqual([]);
  });

  test("that ends when nobody waits is told by one message, once sweep has seen it", async () => {
    const { sender, receiver, call_id } = await called({ deadline_s: 1 });
    moveClock(1_001);
    expect(typesOf([await found(call_id, sender), await reply(call_id, receiver)])).toEqual([
      "504 CALL_TIMED_OUT",
      "409 CALL_CLOSED",
    ]);

    await Promise.all([system.sweep(), system.sweep()]);
    await system.sweep();

    expect(await inboxOf(sender)).toMatchObject([{ kind: "reply", call_id, sender: receiver, status: "timed_out" }]);
  });
});

describe("a withdrawal", () => {
  const withdraw = (call_id: string, sender: string) =>
    tool("cancel_call", { call_id, sender, reason: "Changed plans." });

  test("is told to the receiver that has the call, and may be repeated", async () => {
    const { sender, receiver, call_id } = await called();

    const [first, second] = [await withdraw(call_id, sender), await withdraw(call_id, sender.toUpperCase())];

    for (const { status, body } of [first, second]) {
      expect([status, body.status, body.reason]).toEqual([200, "cancelled", "Changed plans."]);
    }
    expect(await inboxOf(receiver)).toMatchObject([{ kind: "call", call_id, status: "cancelled" }]);
    expect(await inboxOf(sender)).toEqual([]);
    expect(typesOf([await reply(call_id, receiver), await found(call_id, sender)])).toEqual([
      "409 CALL_CLOSED",
      "410 CALL_CANCELLED",
    ]);
  });

  test("is not the receiver's to make, nor possible after the end", async () => {
    const { sender, receiver, call_id } = await called();
    const foreign = await withdraw(call_id, receiver);
    await reply(call_id, receiver);
    expect(typesOf([foreign, await withdraw(call_id, sender)])).toEqual(["404 CALL_NOT_FOUND", "409 CALL_CLOSED"]);
    expect((await found(call_id, sender)).body.status).toBe("answered");
  });
});
