import { afterAll, describe, expect, test } from "vitest";
import { acts, unique } from "../acts.ts";
import { moveClock } from "../clock.ts";
import { startTestSystem } from "../system.ts";
import { tableItems } from "../table_items.ts";

const system = await startTestSystem({ CALLS_PER_SESSION: "5", CALLS_PER_PAIR_MINUTE: "3" });
afterAll(() => system.stop());
const { call, receive, register, reply } = acts(system.tool);

const minuteMs = 60_000;
/** So that no minute ends while a test counts its calls. */
const toNextMinute = () => moveClock(minuteMs - (Date.now() % minuteMs));

test("a session makes so many calls; every answer says how many are left, and the next call is refused", async () => {
  const session_id = unique("s");
  const [sender, first, second] = [await register("asker"), await register("writer"), await register("coder")];
  const left: number[] = [];
  for (const receiver of [first, second, first, second]) {
    left.push((await call({ session_id, sender, receiver })).body.budget_remaining);
  }
  const { call_id, budget_remaining } = (await call({ session_id, sender, receiver: first })).body;
  expect([...left, budget_remaining]).toEqual([4, 3, 2, 1, 0]);
  const before = await tableItems();

  const refused = await call({ session_id, sender, receiver: second });

  expect(refused).toMatchObject({
    status: 429,
    body: { call_id: "", error: { type: "CALL_BUDGET", retryable: false } },
  });
  expect(refused.headers.get("retry-after")).toBeNull();
  expect(await tableItems()).toEqual(before);
  const found = await system.tool("get_call", { call_id, agent_name: sender });
  expect(found.body.budget_remaining).toBe(0);
  expect((await call({ session_id: unique("s"), sender, receiver: second })).body.budget_remaining).toBe(4);
});

test("parallel calls never overdraw a session's budget", async () => {
  const session_id = unique("s");
  const [sender, ...receivers] = await Promise.all(
    ["asker", "a", "b", "c", "d", "e", "f", "g"].map((n) => register(n)),
  );

  const calls = await Promise.all(receivers.map((receiver) => call({ session_id, sender: String(sender), receiver })));

  expect(calls.map(({ status }) => status).sort()).toEqual([202, 202, 202, 202, 202, 429, 429]);
});

describe("two agents", () => {
  test("call each other so many times a minute, counted both ways, and again in the next minute", async () => {
    toNextMinute();
    const [asker, writer, coder] = [await register("asker"), await register("writer"), await register("coder")];
    const session_id = unique("s");
    const [there, back] = [
      { session_id, sender: asker, receiver: writer },
      { session_id, sender: writer, receiver: asker },
    ];
    for (const input of [there, back, there]) {
      const { call_id } = (await call(input)).body;
      expect((await reply(call_id, input.receiver)).status).toBe(200);
    }
    const before = await tableItems();

    const refused = await call(back);

    expect(refused).toMatchObject({ status: 429, body: { error: { type: "CALL_BUDGET" } } });
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await tableItems()).toEqual(before);
    expect((await call({ session_id, sender: asker, receiver: coder })).status).toBe(202);
    moveClock(Number(refused.headers.get("retry-after")) * 1000);
    expect((await call(back)).status).toBe(202);
  });

  test("that thank each other for ever are stopped", async () => {
    toNextMinute();
    const [a, b, session_id] = [await register("polite"), await register("grateful"), unique("s")];
    const statuses: number[] = [];
    for (let [sender, receiver] = [a, b]; statuses.at(-1) !== 429; [sender, receiver] = [receiver, sender]) {
      statuses.push((await call({ session_id, sender, receiver, content: "Thank you!" })).status);
      const { messages } = (await receive(receiver, { session_id })).body;
      for (const { call_id } of messages) await reply(call_id, receiver, { content: "Thank you!" });
      await receive(sender, { session_id, ack: [] });
    }
    expect(statuses).toEqual([202, 202, 202, 429]);
  });
});
