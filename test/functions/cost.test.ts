import { readFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { contracts } from "../../functions/tools.ts";
import { type Cost, costOf, sqsRequestsOf } from "../bench/account.ts";
import { costs, roundTripCosts } from "../bench/costs.ts";
import { type Account, Ledger } from "../bench/ledger.ts";
import type { Entry } from "../bench/operations.ts";
import { readmeCosts } from "../bench/report.ts";
import { newStage, roundTrips, type Use, uses } from "../bench/uses.ts";
import { startTestSystem } from "../system.ts";

/*
 * What each tool asks of DynamoDB and SQS, counted from what the engine reports: exact units, no Scan, no query
 * without a bound, and no request for each of many.
 */

const ledger = new Ledger();
const system = await startTestSystem({}, ledger.functions);
const stopRecording = await ledger.begin();
afterAll(async () => {
  stopRecording();
  await system.stop();
});

const accounts = new Map<Use, Promise<Account>>();

/** Each use is made once; every test looks at the same account of it. */
function accountOf(use: Use | undefined): Promise<Account> {
  if (use === undefined) throw new Error("There is no such use.");
  const account =
    accounts.get(use) ??
    newStage(system)
      .then(use)
      .then((act) => ledger.during(act));
  accounts.set(use, account);
  return account;
}

const namesOf = (record: Record<string, unknown>) => Object.keys(record).sort();

test("every tool has its uses, and every use its cost", () => {
  expect(namesOf(uses)).toEqual(contracts.map(({ name }) => name).sort());
  expect(namesOf(costs)).toEqual(namesOf(uses));
  for (const [tool, ofTool] of Object.entries(uses)) expect(namesOf(costs[tool] ?? {}), tool).toEqual(namesOf(ofTool));
  expect(namesOf(roundTripCosts)).toEqual(namesOf(roundTrips));
});

const everyUse = [...Object.entries(uses), ["round trip", roundTrips] as const].flatMap(([tool, ofTool]) =>
  Object.entries(ofTool).map(([name, use]) => ({ tool, name, use })),
);

describe.each(everyUse)("$tool: $name", ({ tool, name, use }) => {
  test("costs exactly what is stated", async () => {
    const stated = tool === "round trip" ? roundTripCosts[name] : costs[tool]?.[name];
    expect(costOf(await accountOf(use))).toEqual(stated);
  });

  test("scans nothing, and bounds every query", async () => {
    const { entries } = await accountOf(use);
    expect(entries.filter(({ command }) => command === "Scan")).toEqual([]);
    expect(entries.filter(({ command }) => command === "Query").filter((query) => !isBounded(query))).toEqual([]);
  });
});

/**
 * A query is bounded when it has a Limit, or when what it reads is open: a group's messages (at most 64, and notices
 * until they are told), or an agent's profile and its open messages, which end with their calls and tasks.
 */
function isBounded({ input }: Entry): boolean {
  if (input.Limit !== undefined) return true;
  const values = input.ExpressionAttributeValues as Record<string, string>;
  const isAgents = /^WS#\w+#AGENT#[\w-]+$/.test(String(values[":pk"]));
  return isAgents && [undefined, "INBOX#"].includes(values[":prefix"]?.replace(/[\w-]{22}#$/, ""));
}

test("the budget of a call's round trip is kept", async () => {
  const cost = (name: keyof typeof roundTrips) => accountOf(roundTrips[name]).then(costOf);
  const plain = await cost("call and reply, by webhook");
  expect(plain.write).toBeLessThanOrEqual(22);
  expect(plain.read).toBeLessThanOrEqual(10);
  expect(sqsRequestsOf(plain)).toBe(3);
  expect((await cost("call and reply, by webhook, with an Idempotency-Key")).write).toBeLessThanOrEqual(24);
});

test("the README says what each use costs", () => {
  const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
  expect(readme).toContain(readmeCosts());
});

const perBatchOf25 = (count: number) => Math.ceil(count / 25);

describe("requests do not grow with what there is to do", () => {
  test.each([
    ["list_agents", "3 agents", "50 agents"],
    ["get_project", "1 task", "40 tasks"],
    ["get_agent_status", "1 todo", "20 todos"],
    ["list_approvals", "1 of them", "20 of them"],
    ["list_audit_events", "10 of an hour", "100 of an hour"],
  ])("of %s: %s, %s", async (tool, few, many) => {
    expect(await requestsOf(tool, many)).toEqual(await requestsOf(tool, few));
  });

  test("of assign_agent_work, but for the texts, which are written 25 at a time", async () => {
    const one = await requestsOf("assign_agent_work", "1 task");
    const { BatchWriteItem = 0, ...others } = one;
    // Beside each task's text there is the one that goes to all.
    const forty = { ...others, BatchWriteItem: BatchWriteItem - perBatchOf25(1 + 1) + perBatchOf25(40 + 1) };
    expect(await requestsOf("assign_agent_work", "40 tasks")).toEqual(forty);
  });

  test("of receive_messages, but for the lease of each message handed out, of which there are at most ten", async () => {
    const { UpdateItem = 0, ...others } = await requestsOf("receive_messages", "1 call");
    const ten = { ...others, UpdateItem: UpdateItem + 9 };
    expect(await requestsOf("receive_messages", "10 calls")).toEqual(ten);
  });
});

const requestsOf = async (tool: string, name: string): Promise<Cost["requests"]> =>
  costOf(await accountOf(uses[tool]?.[name])).requests;
