import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { contracts } from "../../functions/tools.ts";
import { unique } from "../acts.ts";
import { moveClock } from "../clock.ts";
import { changing } from "../delivery/changes.ts";
import { intercept, lost } from "../delivery/intercept.ts";
import { beginJournal } from "../delivery/journal.ts";
import { written } from "../functions/manifest_reader.ts";
import { startTestSystem } from "../system.ts";

/* Requests that are repeated under one Idempotency-Key, for every tool that changes something. */

const system = await startTestSystem();
afterAll(() => system.stop());
const { tool } = system;

const once = (key: string, more: { key?: string } = {}) => ({
  headers: { "idempotency-key": key, prefer: "respond-async" },
  ...more,
});

test("every tool that changes something is among these", () => {
  const names = written.filter(({ sideEffect }) => sideEffect !== "none").map(({ name }) => name);
  expect(changing.map(([name]) => name).sort()).toEqual(names.sort());
});

const day = 24 * 3_600_000;

describe.each(changing)("%s", (name, prepare) => {
  /** What one request does, and how it is answered. */
  async function single() {
    const { input } = await prepare(tool);
    const journal = await beginJournal();
    const { status } = await tool(name, input, once(unique("key")));
    expect(status).toBeLessThan(300);
    return { status, effects: journal.effects() };
  }

  test("repeated, answers the same, and nothing is written", async () => {
    const { input } = await prepare(tool);
    const key = unique("key");
    const first = await tool(name, input, once(key));
    const journal = await beginJournal();
    const again = [await tool(name, input, once(key)), await tool(name, reversed(input), once(key))];
    for (const { status, body } of again) expect({ status, body }).toEqual({ status: first.status, body: first.body });
    expect(journal.writes()).toEqual([]);
  });

  test("ten times at once, has one effect, and all answers tell of it", async () => {
    const { status, effects } = await single();
    const { input } = await prepare(tool);
    const [key, journal] = [unique("key"), await beginJournal()];

    const answers = await Promise.all(Array.from({ length: 10 }, () => tool(name, input, once(key))));

    expect(answers.map((answer) => answer.status)).toEqual(Array(10).fill(status));
    // Requests that came second leave a trace in a session's budget, and no other.
    const told = answers.map(({ body }) => JSON.stringify({ ...body, budget_remaining: 0 }));
    expect(new Set(told)).toEqual(new Set([told[0]]));
    expect(journal.effects()).toEqual(effects);
  });

  test("with another input under the same key is refused, and nothing is written", async () => {
    const { input, other } = await prepare(tool);
    const key = unique("key");
    await tool(name, input, once(key));
    const journal = await beginJournal();
    expect(await tool(name, other, once(key))).toMatchObject({
      status: 422,
      body: { code: 422, error: { type: "IDEMPOTENCY_MISMATCH", retryable: false } },
    });
    expect(journal.writes()).toEqual([]);
  });

  test("with two inputs under one key at once, is carried out for one of them", async () => {
    const { status } = await single();
    const { input, other } = await prepare(tool);
    const [key, journal] = [unique("key"), await beginJournal()];
    const answers = await Promise.all([input, other].map((each) => tool(name, each, once(key))));
    expect(answers.map((answer) => answer.status).toSorted()).toEqual([status, 422]);
    expect(journal.effects().filter((effect) => effect === "Put IDEMPOTENCY")).toHaveLength(1);
  });

  test("under another API key's key of the same name is another request, and so for another agent", async () => {
    const [key, other] = [unique("key"), await system.createKey()];
    const { input, twice } = await prepare(tool);
    const first = await tool(name, input, once(key));
    twice(first, await tool(name, input, once(key, { key: other })));
    if (!speaking.has(name)) return;
    const elsewhere = await prepare(tool);
    const journal = await beginJournal();
    expect((await tool(name, elsewhere.input, once(key))).status).toBe(first.status);
    expect(journal.effects()).toContain("Put IDEMPOTENCY");
  });

  test("after a day by the clock is another request, also while the old record is still there", async () => {
    const { input, twice } = await prepare(tool);
    const key = unique("key");
    const first = await tool(name, input, once(key));
    moveClock(day + 1);
    twice(first, await tool(name, input, once(key)));
  });

  test("refused, is not remembered: the same key works for what is right", async () => {
    const { input, refused } = await prepare(tool);
    const [key, journal] = [unique("key"), await beginJournal()];
    for (let n = 0; n < 2; n++) {
      const { status, body } = await tool(name, refused, once(key));
      expect(status).toBeOneOf([400, 404, 409, 413]);
      expect(body.error?.type).not.toBe("IDEMPOTENCY_MISMATCH");
    }
    expect(journal.writes()).toEqual([]);
    expect((await tool(name, input, once(key))).status).toBeLessThan(300);
  });

  test.each([
    ["whose answer was lost after it was carried out", true],
    ["that was never carried out", false],
  ])("%s, is repeated to one effect", async (_, carriedOut) => {
    const { status, effects } = await single();
    const { input } = await prepare(tool);
    const [key, journal] = [unique("key"), await beginJournal()];
    let losses = 1;
    const stop = await intercept("dynamodb", async ({ name: command, send }) => {
      if (!command.startsWith("TransactWrite") || losses-- <= 0) return send();
      if (carriedOut) await send();
      throw lost();
    });
    onTestFinished(stop);

    const first = await tool(name, input, once(key));
    const repeat = await tool(name, input, once(key));

    expect(first).toMatchObject({ status: 503, body: { error: { type: "UNAVAILABLE", retryable: true } } });
    expect(repeat.status).toBe(status);
    expect(journal.effects()).toEqual(effects);
  });
});

/** Tools whose input names the agent that speaks: each agent has keys of its own. */
const speaking = new Set<string>(contracts.filter((contract) => "speaker" in contract).map(({ name }) => name));

/** The same input, its fields in another order. */
const reversed = (input: Record<string, unknown>) => Object.fromEntries(Object.entries(input).toReversed());
