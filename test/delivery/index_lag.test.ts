import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { acts, byWebhook, unique } from "../acts.ts";
import { moveClock } from "../clock.ts";
import { startTestSystem } from "../system.ts";
import { holdQueue } from "./held_queue.ts";
import { type Answer, answered, intercept } from "./intercept.ts";

/* GSI1 lags: what it says may be old, and what is new may be missing from it. */

const system = await startTestSystem();
afterAll(() => system.stop());
const { tool } = system;
const { call, receive, register, reply, statusOf } = acts(tool);
const queue = await holdQueue(system);

/** Answers the functions' reads of the index like this; answers how to let them through again. */
async function indexAnswers(answer: (query: string, send: () => Promise<Answer>) => Promise<Answer>) {
  const stop = await intercept("dynamodb", ({ name, input, send }) =>
    name.startsWith("Query") && input.IndexName !== undefined
      ? answer(JSON.stringify(input.ExpressionAttributeValues[":pk"]), send)
      : send(),
  );
  onTestFinished(stop);
  return stop;
}

const nothing = async () => answered({ Items: [], Count: 0 });

/** The index as it is at the first look, for ever. */
function frozen() {
  const pages = new Map<string, Answer>();
  return async (query: string, send: () => Promise<Answer>) => {
    const page = pages.get(query) ?? (await send());
    pages.set(query, page);
    return page;
  };
}

async function called(deadline_s = 30) {
  const webhook = await system.webhookAgent(() => ({ body: { content: "Yes." } }));
  const [sender, receiver] = [await register("asker"), await register("writer", byWebhook(webhook))];
  const { call_id } = (await call({ session_id: unique("s"), sender, receiver, deadline_s })).body;
  const find = async () => (await tool("get_call", { call_id, agent_name: sender })).body;
  const told = async () => (await receive(sender, { limit: 10 })).body.messages;
  return { webhook, sender, receiver, call_id, find, told };
}

describe("an index that shows nothing yet", () => {
  test("keeps no call alive: it has ended by the clock for all who ask, and a later sweep tells the sender", async () => {
    const { sender, receiver, find, told } = await called();
    const catchUp = await indexAnswers(nothing);
    moveClock(31_000);
    await system.sweep();
    expect(await find()).toMatchObject({ code: 504, status: "timed_out" });
    expect((await statusOf(receiver)).todos).toEqual([]);
    expect(await told()).toEqual([]);

    catchUp();
    await system.sweep();
    await system.sweep();
    expect(await told()).toMatchObject([{ kind: "reply", sender: receiver, receiver: sender, status: "timed_out" }]);
  });

  test("delays a wake-up that was lost, and loses none", async () => {
    const { webhook, receiver, find } = await called(900);
    const catchUp = await indexAnswers(nothing);
    await system.sweep(61);
    expect(queue.to(receiver)).toHaveLength(1);
    catchUp();
    await system.sweep(61);
    const [first, second] = queue.to(receiver);
    expect(second?.MessageDeduplicationId).not.toBe(first?.MessageDeduplicationId);
    expect(await queue.deliver(second)).toEqual([]);
    expect(await find()).toMatchObject({ code: 0, content: "Yes." });
    expect(webhook.deliveries).toHaveLength(1);
  });

  test("hides a new agent from the list, and from nobody who calls it or asks what it does", async () => {
    await indexAnswers(nothing);
    const { sender, receiver, find } = await called();
    expect((await tool("list_agents")).body.agents).toEqual([]);
    expect((await statusOf(receiver)).todos).toEqual([`reply to ${sender}`]);
    expect(await find()).toMatchObject({ status: "queued" });
    const unknown = await call({ session_id: unique("s"), sender, receiver: `${receiver}x` });
    expect(unknown).toMatchObject({ status: 404, body: { error: { type: "RECEIVER_NOT_FOUND" } } });
  });
});

describe("an index that still shows what has ended", () => {
  test("makes sweep do nothing: no second end, no wake-up, no message", async () => {
    const { webhook, receiver, find, told } = await called();
    await indexAnswers(frozen());
    await system.sweep(61);
    const sent = queue.to(receiver).length;
    expect(await queue.deliver(queue.to(receiver)[0])).toEqual([]);
    expect(await told()).toMatchObject([{ kind: "reply", status: "answered" }]);

    moveClock(120_000);
    for (let n = 0; n < 3; n++) await system.sweep();

    expect(queue.to(receiver)).toHaveLength(sent);
    expect(await find()).toMatchObject({ code: 0, status: "answered", content: "Yes." });
    expect(await told()).toEqual([]);
    expect(webhook.deliveries).toHaveLength(1);
  });

  test("shows an agent as busy in the list alone: its status is what is so", async () => {
    const [sender, skill] = [await register("asker"), unique("skill")];
    const receiver = await register("writer", { skills: [skill] });
    const { call_id } = (await call({ session_id: unique("s"), sender, receiver })).body;
    await indexAnswers(frozen());
    const listed = async () => (await tool("list_agents", { skill })).body.agents.map(({ status }) => status);
    expect(await listed()).toEqual(["busy"]);
    await reply(call_id, receiver);
    expect(await listed()).toEqual(["busy"]);
    expect((await statusOf(receiver)).todos).toEqual([]);
  });
});
