import { ProvisionedThroughputExceededException } from "@aws-sdk/client-dynamodb";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { acts, byWebhook, unique } from "../acts.ts";
import { moveClock } from "../clock.ts";
import { holdQueue } from "../delivery/held_queue.ts";
import { answered, intercept } from "../delivery/intercept.ts";
import { startTestSystem } from "../system.ts";

/* Deliveries while AWS has trouble. */

const system = await startTestSystem();
afterAll(() => system.stop());
const { tool } = system;
const { call, register } = acts(tool);
const queue = await holdQueue(system);

async function called(answer = async () => ({ body: { content: "Yes." } })) {
  const webhook = await system.webhookAgent(answer);
  const [sender, receiver] = [await register("asker"), await register("writer", byWebhook(webhook))];
  const { call_id } = (await call({ session_id: unique("s"), sender, receiver })).body;
  const find = async () => (await tool("get_call", { call_id, agent_name: sender })).body;
  return { webhook, receiver, wakeUp: queue.to(receiver)[0], find };
}

test("a wake-up that the table can't be read for comes back after seconds, not after the queue's long default", async () => {
  const { webhook, wakeUp, find } = await called();
  const stop = await intercept("dynamodb", () => {
    throw new ProvisionedThroughputExceededException({ message: "Too much.", $metadata: {} });
  });
  onTestFinished(stop);
  expect(await queue.deliver(wakeUp)).toEqual([0]);
  expect(queue.hidden).toEqual([10]);
  stop();
  expect(await queue.deliver(wakeUp)).toEqual([]);
  expect(await find()).toMatchObject({ code: 0, attempts: [{ number: 1, outcome: "answered" }] });
  expect(webhook.deliveries).toHaveLength(1);
});

test("a wake-up that can't be hidden either stays with the queue, and its neighbours are delivered", async () => {
  const [failing, good] = [await called(async () => ({ status: 503, body: { content: "" } })), await called()];
  const stop = await intercept("sqs", () => {
    throw Object.assign(new Error("no queue"), { name: "ServiceUnavailable" });
  });
  onTestFinished(stop);
  expect(await queue.deliver(failing.wakeUp, good.wakeUp)).toEqual([0]);
  expect(await good.find()).toMatchObject({ code: 0 });
  expect(await failing.find()).toMatchObject({ code: 202, attempts: [{ number: 1, http_status: 503 }] });
});

test("a slow answer counts also when its wake-up can't be held for it", async () => {
  const held = Promise.withResolvers<void>();
  const { webhook, wakeUp, find } = await called(async () => {
    await held.promise;
    return { body: { content: "At last." } };
  });
  const stop = await intercept("sqs", async ({ name }) => {
    if (!name.startsWith("ChangeMessageVisibility")) return answered({});
    held.resolve();
    throw Object.assign(new Error("no queue"), { name: "ServiceUnavailable" });
  });
  onTestFinished(stop);
  expect(await queue.deliver(wakeUp)).toEqual([]);
  expect(await find()).toMatchObject({ code: 0, content: "At last." });
  expect(webhook.deliveries).toHaveLength(1);
});

test("a wake-up is held for as long as a slow answer may take", async () => {
  const hidden = queue.hidden.length;
  const answer = Promise.withResolvers<{ body: { content: string } }>();
  const { wakeUp, find } = await called(() => answer.promise);
  const delivery = queue.deliver(wakeUp);
  await expect.poll(() => queue.hidden.length, { timeout: 10_000 }).toBeGreaterThan(hidden);
  expect(queue.hidden.at(-1)).toSatisfy((s: number) => s > 55 && s <= 66);
  answer.resolve({ body: { content: "At last." } });
  expect(await delivery).toEqual([]);
  expect(await find()).toMatchObject({ code: 0, content: "At last." });
});

describe("an attempt whose end could not be noted", () => {
  /** A call whose attempt was made, and answered, while the table took nothing more. */
  async function unnoted() {
    const { webhook, wakeUp, ...rest } = await called();
    let failures = 2;
    const stop = await intercept("dynamodb", ({ name, send }) => {
      if (webhook.deliveries.length === 0 || name.startsWith("Get") || failures-- <= 0) return send();
      throw new ProvisionedThroughputExceededException({ message: "Too much.", $metadata: {} });
    });
    onTestFinished(stop);
    expect(await queue.deliver(wakeUp)).toEqual([0]);
    stop();
    return { webhook, wakeUp, ...rest };
  }

  test("is made again once its time is over, under the same webhook-id", async () => {
    const { webhook, wakeUp, find } = await unnoted();
    expect(await queue.deliver(wakeUp)).toEqual([0]);
    expect(await find()).toMatchObject({ code: 202, next_action: "It is being delivered; the attempt ends by then." });
    expect(webhook.deliveries).toHaveLength(1);
    moveClock(66_000);
    expect(await queue.deliver(wakeUp)).toEqual([]);
    expect(await find()).toMatchObject({
      code: 0,
      content: "Yes.",
      attempts: [{ outcome: "broken off", http_status: 0 }, { outcome: "answered" }],
    });
    expect(new Set(webhook.deliveries.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
  });

  test("gets no second wake-up from sweep, unless the queue was lost with a restart", async () => {
    const { receiver, find } = await unnoted();
    moveClock(61_000);
    await system.sweep();
    expect(queue.to(receiver)).toHaveLength(1);
    await system.sweep(120);
    expect(queue.to(receiver)).toHaveLength(2);
    moveClock(6_000);
    expect(await queue.deliver(queue.to(receiver)[1])).toEqual([]);
    expect(await find()).toMatchObject({ code: 0, content: "Yes." });
  });
});
