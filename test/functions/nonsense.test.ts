import { afterAll, describe, expect, test } from "vitest";
import type { Contract } from "../../functions/_runtime/contract.ts";
import { contracts } from "../../functions/tools.ts";
import { acts } from "../acts.ts";
import { startTestSystem } from "../system.ts";
import { tableItems } from "../table_items.ts";
import {
  halfCharacters,
  hiddenInNames,
  lookAlikes,
  type Nonsense,
  nonsense,
  pathsOf,
  unknownFields,
  wrongValues,
} from "./nonsense_inputs.ts";
import { expectRefusal, gatewayEvent, messageOf, run } from "./wire.ts";

/*
 * What every tool does with nonsense: a 4xx in its own shape, with a hint, and nothing written. One thing is wrong
 * with each request; the agents, the call and the task that it names are there.
 */

const system = await startTestSystem();
afterAll(() => system.stop());
const { tool } = system;
const json = { authorization: `Bearer ${system.key}`, "content-type": "application/json" };
const there = await populate();

async function populate() {
  const { assign, call } = acts(tool);
  const agents = { lead: "director", writer: "member", coach: "master", kit: "member" };
  for (const [agent_name, role] of Object.entries(agents)) await tool("register_agent", { agent_name, role });
  const { call_id } = (await call({ session_id: "s-0", sender: "lead", receiver: "writer" })).body;
  const tasks = [{ name: "首页文案", executor: "writer", content: "写两句首页文案。" }];
  const { body } = await assign({ session_id: "s-0", leader: "lead", project_name: "官网改版", tasks });
  expect(call_id).not.toBe("");
  return { call_id, task_id: body.tasks[0]?.task_id ?? "" };
}

/** The tool's own example, about the call and the task that are there. */
function rightInput({ name, input, examples }: Contract): Record<string, unknown> {
  const ids = Object.entries(there).filter(([id]) => id in input.shape);
  const example = examples[0]?.input;
  if (example === undefined) throw new Error(`${name} has no example.`);
  return { ...example, ...Object.fromEntries(ids) };
}

const invoke = ({ name }: Contract, body: string, headers: Record<string, string> = json) =>
  run(system.functions.tools.get(name), gatewayEvent({ body, headers }));

async function expectAllRefused(contract: Contract, all: readonly Nonsense[]): Promise<void> {
  const before = await tableItems();
  for (let from = 0; from < all.length; from += 16) {
    const some = all.slice(from, from + 16);
    const answers = await Promise.all(some.map(({ body }) => invoke(contract, body)));
    for (const [index, answer] of answers.entries())
      expectRefusal(contract, answer, `${contract.name}: ${some[index]?.about}`);
  }
  expect(await tableItems()).toEqual(before);
}

const agentFields = ["agent_name", "sender", "receiver", "leader", "executor"];
const idFields = ["call_id", "task_id", "assignment_id", "cursor", "ack[]", "renew[]"];

describe.each(contracts)("$name refuses, and writes nothing for", (contract: Contract) => {
  const input = rightInput(contract);

  test("values of other types and beyond their bounds, in each parameter at any depth", () =>
    expectAllRefused(contract, wrongValues(contract, input)));

  test("parameters that it does not have, at any depth, also those that every object inherits", () =>
    expectAllRefused(contract, unknownFields(contract, input)));

  test("halves of characters in any text", () => expectAllRefused(contract, halfCharacters(contract, input)));

  test("names with invisible characters, spaces at their ends, damage or placeholders", () =>
    expectAllRefused(contract, hiddenInNames(contract, input)));

  test("agents and ids that look like one that exists", () => {
    const agents = pathsOf(contract, agentFields).flatMap((path) =>
      lookAlikes(String(input[path])).map((name) => nonsense(input, path, name)),
    );
    const ids = pathsOf(contract, idFields).flatMap((path) =>
      [...lookAlikes(there.call_id), "null", "__proto__"].map((id) => nonsense(input, path, id)),
    );
    return expectAllRefused(contract, [...agents, ...ids]);
  });

  test("bodies that are no arguments", () => {
    const whole = JSON.stringify(input);
    const cut = [0.2, 0.5, 0.9].map((part) => whole.slice(0, Math.floor(whole.length * part)));
    const [open, close] = ["[".repeat(100_000), "]".repeat(100_000)];
    const bodies = [
      ...["[]", '"text"', "7", "true", "{", "nul", "NaN", "{'a': 1}", `${whole},`, whole + whole, `[${whole}]`],
      ...[...cut, open, open + close, '{"a":'.repeat(100_000), `{"a":${open}${close}}`],
      ...(contract.input.safeParse({}).success ? [] : ["", "null", '""', "{}"]),
      ...[`{"content":"${"中".repeat(700_000)}"}`, " ".repeat(512 * 1024) + whole],
    ];
    return expectAllRefused(
      contract,
      bodies.map((body) => ({ about: body.slice(0, 60), body })),
    );
  });

  test("an Idempotency-Key that can't be one, with arguments that are right", async () => {
    const before = await tableItems();
    for (const key of ["", "a b", "é", "x".repeat(256)]) {
      const answer = await invoke(contract, JSON.stringify(input), { ...json, "idempotency-key": key });
      expectRefusal(contract, answer, `${contract.name}: key '${key}'`);
      expect(messageOf(answer)).toContain("Idempotency-Key");
    }
    expect(await tableItems()).toEqual(before);
  });
});

test("a task for an agent that only looks like one is rejected on its own, and nothing is stored", async () => {
  const before = await tableItems();
  const tasks = [...lookAlikes("kit"), "constructor", "__proto__", ""].map((executor) => ({
    name: "t",
    executor,
    content: "c",
  }));
  const { status, body } = await acts(tool).assign({ session_id: "s-1", leader: "lead", tasks });
  expect({ status, code: body.code }).toEqual({ status: 200, code: 0 });
  expect(body.tasks.map(({ status }) => status)).toEqual(tasks.map(() => "rejected"));
  expect(await tableItems()).toEqual(before);
});
