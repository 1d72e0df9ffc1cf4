import { afterAll, expect, test } from "vitest";
import { growTo, newHistory } from "../bench/growth.ts";
import { Ledger } from "../bench/ledger.ts";
import { startTestSystem } from "../system.ts";

const ledger = new Ledger();
const system = await startTestSystem({ CALLS_PER_PAIR_MINUTE: "1000" }, ledger.functions);
const stopRecording = await ledger.begin();
afterAll(async () => {
  stopRecording();
  await system.stop();
});

test("nothing costs more with 2,000 calls, tasks, agents and audit events behind it than with 10", {
  timeout: 60_000,
}, async () => {
  const history = await newHistory(system.tool);
  const costsWith = async (items: number) =>
    (await growTo(items, { ledger, tool: system.tool, history }, 0)).map(({ tool, cost }) => ({ tool, cost }));

  const few = await costsWith(10);
  const many = await costsWith(2_000);

  expect(few.map(({ tool }) => tool)).toContain("get_agent_status");
  expect(many).toEqual(few);
});
