import { afterAll, describe, expect, test } from "vitest";
import { acts, byWebhook, unique } from "../acts.ts";
import { moveClock } from "../clock.ts";
import { startTestSystem } from "../system.ts";
import type { DeliveryHandler } from "../webhook_agent.ts";
import { holdQueue } from "./held_queue.ts";

/* When and how often a delivery is tried again. Wake-ups come back when the test says so. */

const system = await startTestSystem({ RETRY_BASE_MS: "2000" });
afterAll(() => system.stop());
const { tool } = system;
const { call, register, statusOf } = acts(tool);
const queue = await holdQueue(system);

/** An agent whose webhook answers like this, and a call to it whose wake-up has been sent. */
async function called(handler: DeliveryHandler, { answer_timeout_s = 60, deadline_s = 900 } = {}) {
  const webhook = await system.webhookAgent(handler);
  const skill = unique("writing");
  const sender = await register("asker");
  const receiver = await register("writer", { ...byWebhook(webhook), skills: [skill], answer_timeout_s });
  const { call_id } = (await call({ session_id: unique("s"), sender, receiver, deadline_s })).body;
  return {
    webhook,
    receiver,
    find: async () => (await tool("get_call", { call_id, agent_name: sender })).body,
    profile: async () => (await tool("list_agents", { skill })).body.agents[0],
    /** Works the wake-up off. Answers for how many seconds it is hidden, or undefined when it has done its work. */
    wake: async () => {
      const stays = await queue.deliver(queue.to(receiver)[0]);
      return stays.length > 0 ? queue.hidden.at(-1) : undefined;
    },
  };
}

const seconds = (from: string, to: string) => (Date.parse(to) - Date.parse(from)) / 1000;

describe("is tried again", () => {
  test.each([
    [408, "408"],
    [429, "429"],
    [500, "500"],
    [502, "502"],
    [503, "503"],
  ])("after status %i, and the answer to the second attempt is the reply", async (status) => {
    const { webhook, receiver, find, profile, wake } = await called((_, index) =>
      index === 0 ? { status, raw: "inner-secret-4711" } : { body: { content: "Now." } },
    );
    const reason = `The receiver's webhook answered with status ${status}.`;

    const hiddenS = await wake();

    const waiting = await find();
    expect(waiting).toMatchObject({ code: 202, status: "queued", reason: "", next_action: "It is delivered again." });
    expect(waiting.attempts).toMatchObject([{ number: 1, outcome: reason, http_status: status }]);
    expect(seconds(waiting.attempts[0]?.ended_at ?? "", waiting.next_at)).toSatisfy((s: number) => s > 1.4 && s < 2.6);
    expect(hiddenS).toSatisfy((s: number | undefined) => s === 2 || s === 3);
    expect(await profile()).toMatchObject({ status: "busy", last_delivery_error: reason });
    expect(JSON.stringify([waiting, await profile()])).not.toContain("inner-secret");

    moveClock(3_000);
    expect(await wake()).toBeUndefined();

    expect(await find()).toMatchObject({ code: 0, content: "Now.", attempts: [{ number: 1 }, { number: 2 }] });
    expect((await statusOf(receiver)).todos).toEqual([]);
    expect(await profile()).toMatchObject({ status: "idle", last_delivery_error: "" });
    expect(webhook.deliveries).toHaveLength(2);
  });

  test("after a connection that was hung up, and after an answer that never came", async () => {
    const { webhook, find, wake } = await called(
      (_, index) => (["hang up", new Promise<never>(() => {})] as const)[index] ?? { body: { content: "Now." } },
      { answer_timeout_s: 1 },
    );
    await wake();
    moveClock(3_000);
    await wake();
    expect((await find()).attempts).toMatchObject([
      { outcome: "The receiver's webhook could not be reached.", http_status: 0 },
      { outcome: "The receiver's webhook did not answer within 1 s.", http_status: 0 },
    ]);
    moveClock(6_000);
    await wake();
    expect(await find()).toMatchObject({ code: 0, content: "Now." });
    expect(webhook.deliveries).toHaveLength(3);
  });

  test("not before its time, however many wake-ups come", async () => {
    const { webhook, wake } = await called(() => ({ status: 503 }));
    await wake();
    expect(await wake()).toBeGreaterThan(0);
    expect(await wake()).toBeGreaterThan(0);
    expect(webhook.deliveries).toHaveLength(1);
  });
});

test("each pause is longer than the one before; after the fifth attempt the call has failed, with all of them shown", async () => {
  const { webhook, receiver, find, profile, wake } = await called(() => ({ status: 503 }));
  const pauses: number[] = [];
  for (let hiddenS = await wake(); hiddenS !== undefined; hiddenS = await wake()) {
    pauses.push(hiddenS);
    moveClock(hiddenS * 1000);
  }

  expect(pauses).toHaveLength(4);
  for (const [index, pause] of pauses.entries()) expect(pause).toBeGreaterThan(pauses[index - 1] ?? 0);
  const reason = "The receiver's webhook answered with status 503.";
  const { attempts, ...found } = await find();
  expect(found).toMatchObject({ code: 502, status: "failed", reason, next_action: "", next_at: "" });
  expect(attempts.map(({ number, outcome, http_status }) => [number, outcome, http_status])).toEqual(
    [1, 2, 3, 4, 5].map((number) => [number, reason, 503]),
  );
  for (const [index, { started_at, ended_at }] of attempts.entries()) {
    expect(seconds(started_at, ended_at)).toBeGreaterThanOrEqual(0);
    expect(seconds(attempts[index - 1]?.ended_at ?? started_at, started_at)).toBeGreaterThanOrEqual(0);
  }
  expect(webhook.deliveries.map(({ body }) => body.data.attempt)).toEqual([1, 2, 3, 4, 5]);
  expect((await statusOf(receiver)).todos).toEqual([]);
  expect(await profile()).toMatchObject({ status: "idle", last_delivery_error: reason });

  moveClock(600_000);
  expect(await wake()).toBeUndefined();
  expect(webhook.deliveries).toHaveLength(5);
});

describe("Retry-After", () => {
  const at = (ms: number) => new Date(Date.now() + ms).toUTCString();
  test.each([
    ["seconds", () => "120", 120],
    ["an HTTP date", () => at(120_000), 120],
    ["seconds that are more than SQS can hide", () => "1800", 1800],
  ])("is honoured when it gives %s", async (_, header, expectedS) => {
    const { webhook, find, wake } = await called(
      (__, index) =>
        index === 0 ? { status: 429, headers: { "retry-after": header() } } : { body: { content: "Now." } },
      { deadline_s: 7_200 },
    );
    const hiddenS = await wake();
    const { attempts, next_at } = await find();
    expect(Math.abs(seconds(attempts[0]?.ended_at ?? "", next_at) - expectedS)).toBeLessThan(2);
    expect(Math.abs(Number(hiddenS) - Math.min(expectedS, 900))).toBeLessThan(2);

    moveClock(expectedS * 1000 - 5_000);
    await wake();
    expect(webhook.deliveries).toHaveLength(1);
    moveClock(6_000);
    await wake();
    expect((await find()).content).toBe("Now.");
  });

  test.each(["0", "-5", "soon", "", "99999999999999999999", "Thu, 01 Jan 1970 00:00:00 GMT"])(
    "of %j never makes the pause shorter than it would have been",
    async (value) => {
      const { wake } = await called(() => ({ status: 503, headers: { "retry-after": value } }));
      expect(await wake()).toSatisfy((s: number) => s === 2 || s === 3);
    },
  );

  test("is read after a 408 and a 503 too, and means nothing on a status that fails the call", async () => {
    for (const status of [408, 503]) {
      const { wake } = await called(() => ({ status, headers: { "retry-after": "60" } }));
      expect(await wake()).toBe(60);
    }
    const { find, wake } = await called(() => ({ status: 404, headers: { "retry-after": "60" } }));
    expect(await wake()).toBeUndefined();
    expect(await find()).toMatchObject({ status: "failed", attempts: [{ number: 1 }] });
  });
});

test("while an attempt is under way get_call says so, and by when it ends", async () => {
  const answer = Promise.withResolvers<{ body: object }>();
  const { webhook, find, wake } = await called(() => answer.promise);
  const delivery = wake();
  await webhook.received(1);
  const { attempts, status, next_action, next_at } = await find();
  expect([status, next_action]).toEqual(["queued", "It is being delivered; the attempt ends by then."]);
  expect(attempts).toEqual([
    { number: 1, started_at: expect.stringContaining("Z"), ended_at: "", outcome: "", http_status: 0 },
  ]);
  expect(seconds(attempts[0]?.started_at ?? "", next_at)).toSatisfy((s: number) => s >= 60 && s <= 66);
  answer.resolve({ body: { content: "Here." } });
  await delivery;
  expect(await find()).toMatchObject({ code: 0, content: "Here.", attempts: [{ outcome: "answered" }] });
});

describe("the deadline", () => {
  test("leaves no room for an attempt after it: the call fails at once and says why", async () => {
    const { webhook, find, wake } = await called(() => ({ status: 503, headers: { "retry-after": "60" } }), {
      deadline_s: 30,
    });
    expect(await wake()).toBeUndefined();
    const reason = "The receiver's webhook answered with status 503.";
    expect(await find()).toMatchObject({ code: 502, status: "failed", reason, attempts: [{ number: 1 }] });
    expect(webhook.deliveries).toHaveLength(1);
  });

  test("is kept by the clock: a call that is over is never delivered, swept or not", async () => {
    const { webhook, find, wake } = await called(() => ({ body: { content: "Too late." } }), { deadline_s: 30 });
    moveClock(30_001);
    expect(await wake()).toBeUndefined();
    await system.sweep();
    expect(await wake()).toBeUndefined();
    expect(await find()).toMatchObject({ code: 504, status: "timed_out", attempts: [] });
    expect(webhook.deliveries).toHaveLength(0);
  });

  test("that passes while an answer is under way makes it a late one, which is kept", async () => {
    const { find, wake } = await called(
      () => {
        moveClock(30_001);
        return { body: { content: "Too late." } };
      },
      { deadline_s: 30 },
    );
    await wake();
    expect(await find()).toMatchObject({
      code: 504,
      status: "timed_out",
      content: "",
      late_replies: [{ content: "Too late.", reason: "It came after the end." }],
    });
  });
});
