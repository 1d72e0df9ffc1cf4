import { afterAll, expect, test, vi } from "vitest";
import { idOf } from "../../functions/_table/messages.ts";
import { acts, byWebhook, unique } from "../acts.ts";
import { startTestSystem } from "../system.ts";

vi.setConfig({ testTimeout: 120_000 });

const system = await startTestSystem({ CALLS_PER_SESSION: "10000", CALLS_PER_PAIR_MINUTE: "10000" });
afterAll(() => system.stop());
const { call, receive, register, reply } = acts(system.tool);

/** In the session's order. */
const seqOf = (call_id: unknown) => Number(idOf(String(call_id)).place.split("_")[0]);
const ascending = (seqs: readonly number[]) => seqs.toSorted((a, b) => a - b);

/**
 * Runs rounds in four lanes side by side. A lane changes its session after ten rounds: the first calls of a
 * session meet more conditions than those that follow, and either must stand the race.
 */
async function rounds(count: number, round: (session_id: string) => Promise<void>): Promise<void> {
  let left = count;
  const lane = async () => {
    for (let n = 0, session_id = ""; left-- > 0; n++) {
      if (n % 10 === 0) session_id = unique("s");
      await round(session_id);
    }
  };
  await Promise.all([lane(), lane(), lane(), lane()]);
}

/**
 * Starts calls at the same moment, each waiting. As soon as one is refused, its sender answers the call that
 * waits for it, and so on against the direction of the calls, so that no wait needs to run out.
 */
async function atOnce(session_id: string, pairs: readonly (readonly [sender: string, receiver: string])[]) {
  const calls = pairs.map(async ([sender, receiver]) => {
    const answer = await call({ session_id, sender, receiver }, 20);
    return { sender, status: answer.status, type: answer.body.error?.type };
  });
  const first = await Promise.race(calls);
  for (let answering = first.sender, n = 1; n < pairs.length; n++) {
    const { messages } = (await receive(answering, { session_id }, 20)).body;
    const [waiting] = messages;
    if (waiting === undefined) break; // Nobody got through to it; the assessment will say so.
    await reply(waiting.call_id, answering);
    answering = waiting.sender;
  }
  const outcomes = await Promise.all(calls);
  return outcomes.toSorted((a, b) => a.status - b.status);
}

test("of two agents that call each other at the same moment, both waiting, exactly one is refused", async () => {
  const [a, b] = [await register("a"), await register("b")];
  const refusals: unknown[] = [];

  await rounds(200, async (session_id) => {
    const [accepted, refused] = await atOnce(session_id, [
      [a, b],
      [b, a],
    ]);
    expect([accepted?.status, refused?.status]).toEqual([200, 409]);
    refusals.push(refused?.type);
  });

  expect(refusals).toHaveLength(200);
  for (const type of refusals) expect(["CALL_CYCLE", "CURRENT_CONVERSATION"]).toContain(type);
  expect(refusals).toContain("CALL_CYCLE");
});

test("of three agents that call one another in a ring at the same moment, all waiting, one is refused", async () => {
  const [a, b, c] = [await register("a"), await register("b"), await register("c")];

  await rounds(60, async (session_id) => {
    const outcomes = await atOnce(session_id, [
      [a, b],
      [b, c],
      [c, a],
    ]);
    expect(outcomes).toMatchObject([{ status: 200 }, { status: 200 }, { status: 409, type: "CALL_CYCLE" }]);
  });
});

test("an agent calls 50 others in one session at the same moment, waiting, and each call is accepted", async () => {
  const webhook = await system.webhookAgent(({ body }) => ({ body: { content: `I am ${body.data.receiver}.` } }));
  const sender = await register("lead");
  const receivers = await Promise.all(Array.from({ length: 50 }, (_, n) => register(`r${n}`, byWebhook(webhook))));
  const session_id = unique("s");

  const calls = await Promise.all(receivers.map((receiver) => call({ session_id, sender, receiver }, 25)));

  expect(calls.map(({ status, body }) => [status, body.content])).toEqual(
    receivers.map((name) => [200, `I am ${name}.`]),
  );
  const ids = calls.map(({ body }) => body.call_id);
  expect(new Set(ids).size).toBe(50);
  expect(ascending(ids.map(seqOf))).toEqual(Array.from({ length: 50 }, (_, n) => n + 1));
  expect(Math.min(...calls.map(({ body }) => body.budget_remaining))).toBe(9_950);
  expect(webhook.deliveries).toHaveLength(50);
});

test("an inbox agent gets 30 calls that were made at the same moment in the session's order", async () => {
  const [sender, receiver, session_id] = [await register("lead"), await register("writer"), unique("s")];
  const calls = await Promise.all(Array.from({ length: 30 }, () => call({ session_id, sender, receiver })));
  expect(calls.map(({ status }) => status)).toEqual(Array(30).fill(202));

  const received: string[] = [];
  while (received.length < 30) {
    const { messages } = (await receive(receiver, { limit: 10 })).body;
    received.push(...messages.map(({ call_id }) => call_id));
    if (messages.length === 0) break;
  }

  expect(received).toEqual(calls.map(({ body }) => body.call_id).toSorted((a, b) => seqOf(a) - seqOf(b)));
});

test("a webhook agent gets 30 calls that were made at the same moment once each, in the session's order", async () => {
  const accepted = Promise.withResolvers<void>();
  const webhook = await system.webhookAgent(async () => {
    // Which of them comes first is open until all are accepted; from then on the order is fixed.
    await accepted.promise;
    return { status: 202 };
  });
  const [sender, receiver] = [await register("lead"), await register("writer", byWebhook(webhook))];
  const session_id = unique("s");

  const calls = await Promise.all(Array.from({ length: 30 }, () => call({ session_id, sender, receiver })));
  accepted.resolve();
  await webhook.received(30);

  const [first, ...rest] = webhook.deliveries.map(({ body }) => seqOf(body.data.call_id));
  expect(rest).toEqual(ascending(rest));
  expect(ascending([Number(first), ...rest])).toEqual(ascending(calls.map(({ body }) => seqOf(body.call_id))));
});
