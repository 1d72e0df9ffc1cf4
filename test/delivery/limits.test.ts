import { afterAll, describe, expect, test } from "vitest";
import { acts, byWebhook, unique } from "../acts.ts";
import { moveClock } from "../clock.ts";
import { startTestSystem } from "../system.ts";
import type { DeliveryHandler } from "../webhook_agent.ts";
import { holdQueue, sqsRecord } from "./held_queue.ts";

/* What one agent that hangs or fails may cost the others. */

const system = await startTestSystem();
afterAll(() => system.stop());
const { tool } = system;
const { call, register } = acts(tool);
const queue = await holdQueue(system);

/** An agent whose webhook answers like this, and so many calls to it, each in a session of its own. */
async function called(count: number, handler: DeliveryHandler) {
  const webhook = await system.webhookAgent(handler);
  const skill = unique("writing");
  const [sender, receiver] = [
    await register("asker"),
    await register("writer", { ...byWebhook(webhook), skills: [skill] }),
  ];
  const ids: string[] = [];
  const callAgain = async () => {
    const { body } = await call({ session_id: unique("s"), sender, receiver });
    return ids.push(body.call_id) - 1;
  };
  for (let n = 0; n < count; n++) await callAgain();
  return {
    webhook,
    callAgain,
    wakeUps: () => queue.to(receiver),
    /** Works off the wake-ups of the calls with these numbers, at the same time. */
    wake: (...numbers: readonly number[]) => queue.deliver(...numbers.map((n) => queue.to(receiver)[n])),
    find: async (n: number) => (await tool("get_call", { call_id: ids[n], agent_name: sender })).body,
    again: () =>
      tool("register_agent", { agent_name: receiver, role: "member", skills: [skill], ...byWebhook(webhook) }),
  };
}

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);
const good = { body: { content: "Yes." } };

describe("at most ten deliveries to an agent are under way", () => {
  test("the others wait, and come when these have been answered; each is made once", async () => {
    const answer = Promise.withResolvers<typeof good>();
    let [underWay, most] = [0, 0];
    const { webhook, wake, find } = await called(12, async () => {
      most = Math.max(most, ++underWay);
      await answer.promise;
      underWay -= 1;
      return good;
    });

    const batch = wake(...numbers(12));
    await webhook.received(10);
    answer.resolve(good);
    const stay = await batch;

    expect(stay).toHaveLength(2);
    expect(webhook.deliveries).toHaveLength(10);
    for (const hiddenS of queue.hidden.slice(-2)) expect(hiddenS).toSatisfy((s: number) => s >= 1 && s <= 3);
    for (const n of stay) expect(await find(n)).toMatchObject({ status: "queued", attempts: [] });
    expect(await wake(...stay)).toEqual([]);
    expect(most).toBe(10);
    expect(new Set(webhook.deliveries.map(({ headers }) => headers["webhook-id"])).size).toBe(12);
    for (const n of numbers(12)) expect(await find(n)).toMatchObject({ status: "answered" });
  });

  test("while another agent's go on", async () => {
    const never = new Promise<typeof good>(() => {});
    const hanging = await called(11, () => never);
    const other = await called(1, () => good);
    void hanging.wake(...numbers(11));
    await hanging.webhook.received(10);
    expect(await other.wake(0)).toEqual([]);
    expect(await other.find(0)).toMatchObject({ status: "answered" });
    expect(hanging.webhook.deliveries).toHaveLength(10);
  });

  test("and those that wait are left alone longer, the more often they came", async () => {
    const never = new Promise<typeof good>(() => {});
    const { webhook, wake, wakeUps } = await called(11, () => never);
    void wake(...numbers(10));
    await webhook.received(10);
    const { MessageBody = "", MessageGroupId = "" } = wakeUps()[10] ?? {};
    for (const [received, least, most] of [
      [1, 1, 2],
      [10, 5, 15],
      [500, 15, 45],
    ] as const) {
      const record = sqsRecord(MessageBody, MessageGroupId);
      record.attributes.ApproximateReceiveCount = String(received);
      expect((await system.functions.deliver({ Records: [record] })).batchItemFailures).toHaveLength(1);
      expect(queue.hidden.at(-1)).toSatisfy((s: number) => s >= least && s <= most);
    }
  });

  test("and one whose worker died counts no more once its time is over", async () => {
    const never = new Promise<typeof good>(() => {});
    const { webhook, wake } = await called(11, (_, index) => (index < 10 ? never : good));
    void wake(...numbers(10));
    await webhook.received(10);
    expect(await wake(10)).toEqual([0]);
    moveClock(66_000); // The agent's answer time and the worker's grace.
    expect(await wake(10)).toEqual([0]); // This one tidies up.
    expect(await wake(10)).toEqual([]);
    expect(webhook.deliveries).toHaveLength(11);
  });
});

describe("after five failures in a row", () => {
  const bad = { status: 404 };
  const halfMinute = 30_000;

  test("an agent's groups are deferred for half a minute, and get_call says so; another agent's go on", async () => {
    const failing = await called(6, () => bad);
    const other = await called(1, () => good);
    for (const n of numbers(5)) expect(await failing.wake(n)).toEqual([]);

    expect(await failing.wake(5)).toEqual([0]);

    expect(queue.hidden.at(-1)).toSatisfy((s: number) => s > 25 && s <= 30);
    const { status, attempts, next_action, next_at } = await failing.find(5);
    expect([status, attempts, next_action]).toEqual([
      "queued",
      [],
      "The receiver fails at present; delivery is deferred.",
    ]);
    expect(Date.parse(next_at) - Date.now()).toSatisfy((ms: number) => ms > 25_000 && ms <= halfMinute);
    expect(failing.webhook.deliveries).toHaveLength(5);
    expect(await other.wake(0)).toEqual([]);
    expect(await other.find(0)).toMatchObject({ status: "answered" });
  });

  test("four are not enough, and one success starts the count anew", async () => {
    const { webhook, wake } = await called(10, (_, index) => (index === 4 ? good : bad));
    for (const n of numbers(9)) expect(await wake(n)).toEqual([]);
    expect(await wake(9)).toEqual([]);
    expect(webhook.deliveries).toHaveLength(10);
  });

  test("that came at the same time the circuit is open too", async () => {
    const { webhook, wake } = await called(6, () => bad);
    await wake(...numbers(5));
    expect(await wake(5)).toEqual([0]);
    expect(webhook.deliveries).toHaveLength(5);
  });

  test("it is tried again when the time is over: a success closes the circuit, a failure opens it again", async () => {
    const { webhook, wake, callAgain } = await called(8, (_, index) => (index < 6 ? bad : good));
    for (const n of numbers(5)) await wake(n);
    expect(await wake(5)).toEqual([0]);

    moveClock(halfMinute + 100);
    expect(await wake(5)).toEqual([]); // It fails again.
    expect(await wake(6)).toEqual([0]);
    expect(webhook.deliveries).toHaveLength(6);

    moveClock(halfMinute + 100);
    expect(await wake(6)).toEqual([]); // This one gets through.
    expect(await wake(7)).toEqual([]);
    expect(await wake(await callAgain())).toEqual([]);
    expect(webhook.deliveries).toHaveLength(9);
  });

  test("registering again closes the circuit at once", async () => {
    const { wake, again, find } = await called(6, (_, index) => (index < 5 ? bad : good));
    for (const n of numbers(5)) await wake(n);
    expect(await wake(5)).toEqual([0]);
    await again();
    expect(await wake(5)).toEqual([]);
    expect(await find(5)).toMatchObject({ status: "answered" });
  });

  test("of retries of one call the circuit defers the rest, which are made all the same", async () => {
    const { webhook, wake, find } = await called(1, () => ({ status: 503 }));
    for (let stays = await wake(0); stays.length > 0; stays = await wake(0)) moveClock(halfMinute + 100);
    expect(webhook.deliveries).toHaveLength(5);
    expect(await find(0)).toMatchObject({ status: "failed" });
  });
});
