import { afterAll, expect, test } from "vitest";
import { failing, hanging, isHealthy, Load } from "../bench/load.ts";
import { loadTable } from "../bench/report.ts";
import { startTestSystem } from "../system.ts";

/*
 * 200 sessions send five calls each, all at once, to 20 agents, of which two fail or hang: once without the
 * calls to those two, once with them, so that it shows what they cost the others.
 */

const system = await startTestSystem();
afterAll(() => system.stop());

const sessionCount = 200;
const load = new Load(system, sessionCount);

test("of 1,000 calls none is lost, none doubled, none out of order, and failing agents stop nobody", {
  timeout: 600_000,
}, async () => {
  await load.prepare();
  const alone = await load.play("alone", isHealthy);
  const beside = await load.play("beside", () => true);

  const open = await openTodos();
  expect(open[failing], "calls that are still tried, when all others are through").toBeGreaterThan(0);
  expect(open[hanging], "calls that are still tried, when all others are through").toBeGreaterThan(0);
  load.end();
  await load.ended();

  const figures = load.figures(alone, beside);
  console.log(loadTable(figures));
  expect(load.calls).toHaveLength(alone.length + 5 * sessionCount);
  expect(figures).toMatchObject({ lost: 0, doubled: 0, outOfOrder: 0 });
  for (const { key, agent, told } of load.calls) {
    expect(new Set(told.values()), key).toEqual(new Set([isHealthy(agent) ? `re: ${key}` : "failed"]));
  }
  await expectOneEndEach();
  expect(await openTodos()).toEqual(load.names.map(() => 0));
});

/** Of each agent that is called. */
async function openTodos(): Promise<number[]> {
  const counts = load.names.map(async (agent_name) => {
    const { body } = await system.tool("get_agent_status", { agent_name, user_name: "alice" });
    return body.todos.length;
  });
  return Promise.all(counts);
}

/** The table knows the same end of each call, why it failed, and that nothing was sent again once it was answered. */
async function expectOneEndEach(): Promise<void> {
  const { readHeads } = await import("../../functions/_table/messages.ts");
  for (let from = 0; from < load.calls.length; from += 100) {
    const some = load.calls.slice(from, from + 100);
    const heads = await readHeads(
      "local",
      some.map(({ id }) => id),
    );
    for (const [index, { key, agent }] of some.entries()) {
      const { status, reason, attempts = [] } = heads[index] ?? {};
      const end = { status, isExplained: reason !== "" };
      expect(end, key).toEqual(
        isHealthy(agent) ? { status: "answered", isExplained: false } : { status: "failed", isExplained: true },
      );
      const answered = attempts.findIndex(({ outcome }) => outcome === "answered");
      expect(answered, key).toBe(isHealthy(agent) ? attempts.length - 1 : -1);
    }
  }
}
