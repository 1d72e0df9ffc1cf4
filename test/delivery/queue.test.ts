import { afterAll, describe, expect, test } from "vitest";
import { acts, byWebhook, unique } from "../acts.ts";
import { startTestSystem } from "../system.ts";
import type { DeliveryHandler } from "../webhook_agent.ts";
import { holdQueue, sqsRecord } from "./held_queue.ts";

/* The `deliver` worker with the events that SQS FIFO gives it. */

const system = await startTestSystem();
afterAll(() => system.stop());
const { deliver } = system.functions;
const { call, register } = acts(system.tool);
const queue = await holdQueue(system);

/** An agent whose webhook answers like this, and calls to it in one session; answers how to find each. */
async function called(contents: readonly string[], handler: DeliveryHandler = () => ({ body: { content: "Yes." } })) {
  const webhook = await system.webhookAgent(handler);
  const [sender, receiver] = [await register("asker"), await register("writer", byWebhook(webhook))];
  const session_id = unique("s");
  const ids: string[] = [];
  for (const content of contents) ids.push((await call({ session_id, sender, receiver, content })).body.call_id);
  return {
    wakeUps: queue.to(receiver),
    received: () => webhook.deliveries.map(({ body }) => body.data.content),
    webhook,
    statuses: async () => {
      const found = ids.map((call_id) => system.tool("get_call", { call_id, agent_name: sender }));
      return (await Promise.all(found)).map(({ body }) => body.status);
    },
  };
}

describe("a batch", () => {
  test("with a receiver that fails keeps that one's messages, and delivers everybody else's", async () => {
    const alice = await called(["alice-1", "alice-2"]);
    const bob = await called(["bob-1", "bob-2"], () => ({ status: 500 }));
    const [[a1, a2], [b1, b2]] = [alice.wakeUps, bob.wakeUps];

    const stays = await queue.deliver(a1, b1, a2, b2);

    expect(stays).toEqual([1, 3]);
    // Both come back at the same time: one that stayed hidden longer would hold up the other.
    expect(new Set(queue.hidden.splice(0))).toEqual(new Set([1]));
    expect(alice.received()).toEqual(["alice-1", "alice-2"]);
    expect(bob.received()).toEqual(["bob-1"]);
    expect(await alice.statuses()).toEqual(["answered", "answered"]);
    expect(await bob.statuses()).toEqual(["queued", "queued"]);
  });

  test("is answered with what stays by message id, in just the shape that Lambda reads", async () => {
    const good = await called(["good"]);
    const bad = await called(["bad"], () => ({ status: 500 }));
    const records = [good, bad].map(({ wakeUps: [sent] }, index) =>
      sqsRecord(sent?.MessageBody ?? "", sent?.MessageGroupId, index),
    );
    const answer = await deliver({ Records: records });
    expect(answer).toStrictEqual({ batchItemFailures: [{ itemIdentifier: records[1]?.messageId }] });
    expect(await deliver({ Records: [] })).toStrictEqual({ batchItemFailures: [] });
  });

  test("delivers a group's next message once the one before was answered, while other groups go on", async () => {
    const [first, otherGroup] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const events: string[] = [];
    const slow = await called(["slow-1", "slow-2"], async ({ body }) => {
      events.push(`${body.data.content} comes`);
      if (body.data.content === "slow-1") await first.promise;
      events.push(`${body.data.content} is answered`);
      return { body: { content: "Yes." } };
    });
    const quick = await called(["quick-1", "quick-2"], ({ body }) => {
      if (body.data.content === "quick-2") otherGroup.resolve();
      return { body: { content: "Yes." } };
    });
    const batch = queue.deliver(slow.wakeUps[0], slow.wakeUps[1], quick.wakeUps[0], quick.wakeUps[1]);
    await otherGroup.promise;
    expect(events).toEqual(["slow-1 comes"]);
    first.resolve();
    expect(await batch).toEqual([]);
    expect(events).toEqual(["slow-1 comes", "slow-1 is answered", "slow-2 comes", "slow-2 is answered"]);
  });

  test("with messages that can't be read keeps those alone, throws nothing and delivers the rest", async () => {
    const { wakeUps, received } = await called(["good"]);
    const [good] = wakeUps;
    const strange = [
      ...["not json", "null", "", "[]", "7", '"text"', "{}", '{"workspace":"local"}'],
      JSON.stringify({ ...JSON.parse(good?.MessageBody ?? ""), extra: 1 }),
      JSON.stringify({ workspace: "local", receiver: 7, session_at: null }),
    ].map((MessageBody, index) => ({ MessageBody, MessageGroupId: `g-${index}`, MessageDeduplicationId: "" }));

    const stays = await queue.deliver(strange[0], good, ...strange.slice(1));

    expect(stays).toEqual([0, ...strange.slice(1).map((_, index) => index + 2)]);
    expect(received()).toEqual(["good"]);
  });

  test("of wake-ups for what isn't there is done at once", async () => {
    const nobody = { workspace: "local", receiver: "nobody", session_at: "x".repeat(22) };
    const wakeUps = [nobody, { ...nobody, workspace: "other" }, { ...nobody, receiver: "a#b" }];
    const Records = wakeUps.map((body, index) => sqsRecord(JSON.stringify(body), `g-${index}`, index));
    expect(await deliver({ Records })).toEqual({ batchItemFailures: [] });
  });
});

describe("a wake-up that comes twice", () => {
  test("one after the other makes one request", async () => {
    const { wakeUps, received } = await called(["once"]);
    const [wakeUp] = wakeUps;
    expect([await queue.deliver(wakeUp), await queue.deliver(wakeUp)]).toEqual([[], []]);
    expect(await queue.deliver(wakeUp, wakeUp)).toEqual([]);
    expect(received()).toEqual(["once"]);
  });

  test("at the same time, to two workers, makes one request; the second looks again later and finds it done", async () => {
    const answer = Promise.withResolvers<{ body: object }>();
    const { wakeUps, webhook, received, statuses } = await called(["once"], () => answer.promise);
    const [wakeUp] = wakeUps;
    const workers = [queue.deliver(wakeUp), queue.deliver(wakeUp), queue.deliver(wakeUp)];
    await webhook.received(1);
    // Two of them leave it to the one that has the message, whose answer is still to come.
    const first = await Promise.race(workers.map(async (worker) => (await worker).length));
    expect(first).toBe(1);
    answer.resolve({ body: { content: "Yes." } });
    expect((await Promise.all(workers)).map(({ length }) => length).toSorted()).toEqual([0, 1, 1]);
    expect(await queue.deliver(wakeUp)).toEqual([]);
    expect(received()).toEqual(["once"]);
    expect(await statuses()).toEqual(["answered"]);
  });

  test("for a group delivers in order all the same, each message once", async () => {
    const { wakeUps, received, statuses } = await called(["1", "2", "3"]);
    const [w1, w2, w3] = wakeUps;
    // Lost, doubled and swapped: a wake-up says that there is something, not what.
    expect(await queue.deliver(w3, w3, w1)).toEqual([]);
    expect(await queue.deliver(w2)).toEqual([]);
    expect(received()).toEqual(["1", "2", "3"]);
    expect(await statuses()).toEqual(["answered", "answered", "answered"]);
  });
});
