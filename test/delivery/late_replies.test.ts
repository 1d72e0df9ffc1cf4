import { afterAll, expect, test } from "vitest";
import { acts, byWebhook, unique } from "../acts.ts";
import { moveClock } from "../clock.ts";
import { startTestSystem } from "../system.ts";

/* Replies to calls that have ended otherwise. Each is refused by name, kept, and changes nothing. */

const system = await startTestSystem();
afterAll(() => system.stop());
const { tool } = system;
const { call, receive, register, reply, statusOf } = acts(tool);

async function called(webhook?: { url: string }, more: object = {}) {
  const [sender, receiver] = [await register("asker"), await register("writer", webhook && byWebhook(webhook))];
  const { call_id } = (await call({ session_id: unique("s"), sender, receiver, deadline_s: 60, ...more })).body;
  return {
    sender,
    receiver,
    call_id,
    find: async () => (await tool("get_call", { call_id, agent_name: sender })).body,
    told: async () => (await receive(sender, { limit: 10 })).body.messages,
  };
}

/** Expects that a reply does not count any more, is kept, and that all else stays as it is. */
async function expectTooLate({ receiver, call_id, find, told }: Awaited<ReturnType<typeof called>>) {
  const [before, known] = [await find(), await told()];
  const late = await reply(call_id, receiver, { content: "Sorry, late." });
  expect(late).toMatchObject({
    status: 409,
    body: { code: 409, call_id, status: before.status, error: { type: "CALL_CLOSED", retryable: false } },
  });
  expect(await find()).toEqual({
    ...before,
    late_replies: [
      {
        sender: receiver,
        content: "Sorry, late.",
        received_at: expect.stringContaining("Z"),
        reason: "The call had ended when it came.",
      },
    ],
  });
  // Nobody is told, and nobody is busy again.
  expect((await told()).filter(({ message_id }) => !known.some((each) => each.message_id === message_id))).toEqual([]);
  expect((await statusOf(receiver)).todos).toEqual([]);
  return before;
}

test("after the deadline, whether or not sweep has seen it", async () => {
  for (const swept of [false, true]) {
    const it = await called();
    await receive(it.receiver);
    moveClock(60_001);
    if (swept) await system.sweep();
    expect(await expectTooLate(it)).toMatchObject({ code: 504, status: "timed_out", content: "" });
    await system.sweep();
    expect(await it.find()).toMatchObject({ code: 504, status: "timed_out", content: "" });
  }
});

test("after it was withdrawn", async () => {
  const it = await called();
  await tool("cancel_call", { call_id: it.call_id, sender: it.sender, reason: "No longer needed." });
  expect(await expectTooLate(it)).toMatchObject({ code: 410, status: "cancelled", reason: "No longer needed." });
});

test("after its delivery failed", async () => {
  const it = await called(await system.webhookAgent(() => ({ status: 404 })));
  await expect.poll(it.find).toMatchObject({ code: 502, status: "failed" });
  await expectTooLate(it);
});

test("after a webhook answered at once", async () => {
  const it = await called(await system.webhookAgent(() => ({ body: { content: "At once." } })));
  await expect.poll(it.find).toMatchObject({ code: 0, content: "At once." });
  expect(await expectTooLate(it)).toMatchObject({ content: "At once." });
});

test("a webhook's answer that comes after reply_call did is kept, and the first stays", async () => {
  const replied = Promise.withResolvers<void>();
  const webhook = await system.webhookAgent(async () => {
    await replied.promise;
    return { body: { content: "Second." } };
  });
  const { receiver, call_id, find } = await called(webhook);
  await webhook.received(1);
  expect((await reply(call_id, receiver, { content: "First." })).status).toBe(200);
  replied.resolve();
  await expect.poll(find).toMatchObject({
    code: 0,
    content: "First.",
    late_replies: [{ sender: receiver, content: "Second.", reason: "It came after the end." }],
  });
});

test("the waiting sender gets the reply to its own call, though another of its calls is answered first", async () => {
  const [sender, receiver, session_id] = [await register("asker"), await register("writer"), unique("s")];
  const answers = [1, 2].map((n) => call({ session_id, sender, receiver, content: `${n}` }, 20));
  const { messages } = (await receive(receiver, { limit: 2 }, 20)).body;
  const rest = messages.length === 2 ? [] : (await receive(receiver, {}, 20)).body.messages;
  for (const { call_id, content } of [...messages, ...rest].toReversed())
    await reply(call_id, receiver, { content: `re: ${content}` });
  expect((await Promise.all(answers)).map(({ body }) => body.content)).toEqual(["re: 1", "re: 2"]);
});
