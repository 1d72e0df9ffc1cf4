import { afterAll, describe, expect, test } from "vitest";
import { acts, unique } from "../acts.ts";
import { startTestSystem } from "../system.ts";
import { tableItems } from "../table_items.ts";

/* What a refusal says of the call or message that it is about. */

const system = await startTestSystem();
afterAll(() => system.stop());
const { tool } = system;
const { call, receive, register, reply } = acts(tool);
const [sender, receiver] = [await register("sender"), await register("receiver")];
const newCall = async () => (await call({ session_id: unique("s"), sender, receiver })).body.call_id;
const cancel = (call_id: string, headers = {}) =>
  tool("cancel_call", { call_id, sender, reason: "Late." }, { headers });

describe("cancel_call", () => {
  test("says how a call that it can't withdraw has ended", async () => {
    const call_id = await newCall();
    await reply(call_id, receiver);
    const { status, body } = await cancel(call_id);
    expect(status).toBe(409);
    expect(body).toMatchObject({ status: "answered", error: { type: "CALL_CLOSED", details: { status: "answered" } } });
  });

  test("of several at once withdraws the call, and none of them is an error", async () => {
    const call_id = await newCall();
    const answers = await Promise.all(
      [1, 2, 3, 4].map((n) => cancel(call_id, { "idempotency-key": `cancel-${n % 3}` })),
    );
    for (const { status, body } of answers)
      expect({ status, state: body.status, reason: body.reason }).toEqual({
        status: 200,
        state: "cancelled",
        reason: "Late.",
      });
  });
});

describe("reply_call", () => {
  test("that comes too late says how the call has ended", async () => {
    const call_id = await newCall();
    await cancel(call_id);
    const { status, body } = await reply(call_id, receiver);
    expect(status).toBe(409);
    expect(body).toMatchObject({ status: "cancelled", receiver: sender, error: { type: "CALL_CLOSED" } });
  });

  test("by another agent is kept, but tells that agent nothing of the call", async () => {
    const [call_id, other] = [await newCall(), await register("other")];
    const { status, body } = await reply(call_id, other, { content: "Let me." });
    expect({ status, type: body.error?.type }).toEqual({ status: 409, type: "CALL_CLOSED" });
    expect(body).toMatchObject({ call_id, sender: other, receiver: "", user_name: "", session_id: "", status: "" });
    const { late_replies, ...call } = (await tool("get_call", { call_id, agent_name: sender })).body;
    expect(call.status).toBe("queued");
    expect(late_replies).toMatchObject([{ sender: other, content: "Let me." }]);
  });

  test("by nobody who is registered is as if there were no such call, and is not kept", async () => {
    const call_id = await newCall();
    const before = await tableItems();
    expect(await reply(call_id, "nobody")).toMatchObject({ status: 404, body: { error: { type: "CALL_NOT_FOUND" } } });
    expect(await tableItems()).toEqual(before);
  });
});

describe("receive_messages", () => {
  test("closes no notice and renews no lease when one of its ids is wrong", async () => {
    const [asker, answerer] = [await register("asker"), await register("answerer")];
    const { call_id } = (await call({ session_id: unique("s"), sender: asker, receiver: answerer })).body;
    await reply(call_id, answerer);
    const [notice] = (await receive(asker)).body.messages;
    const before = await tableItems();
    const ids = { ack: [notice?.message_id], renew: [notice?.message_id] };
    for (const wrong of [
      { ...ids, renew: [notice?.message_id, call_id] },
      { ...ids, ack: [notice?.message_id, call_id] },
    ])
      expect(await receive(asker, wrong)).toMatchObject({
        status: 404,
        body: { error: { type: "MESSAGE_NOT_FOUND" } },
      });
    expect(await tableItems()).toEqual(before);
  });
});

describe("a failed answer", () => {
  test("repeats what identifies the request, and nothing that would look like a result", async () => {
    const { body } = await tool("update_task", {
      task_id: "task_1",
      executor: receiver,
      status: "done",
      detailed: "Done.",
    });
    expect(body).toMatchObject({
      code: 404,
      task_id: "task_1",
      executor: receiver,
      status: "",
      detailed: "",
      files: [],
    });
    const called = await call({ session_id: "s-1", sender, receiver: "nobody", content: "Hello" });
    expect(called.body).toMatchObject({ session_id: "s-1", sender: "nobody", receiver: sender, content: "" });
  });
});
