import { describe, expect, test } from "vitest";
import * as z from "zod";
import { type Contract, defineContract } from "../../functions/_runtime/contract.ts";
import { gradingFaults } from "../../functions/_runtime/risk.ts";
import { contracts } from "../../functions/tools.ts";

type Grading = Pick<Contract, "riskLevel" | "idempotent" | "sideEffect" | "requiresApproval" | "permissions">;

const reading: Grading = {
  riskLevel: "low",
  idempotent: true,
  sideEffect: "none",
  requiresApproval: false,
  permissions: ["invoice:read"],
};
const changing: Grading = { ...reading, sideEffect: "internal", permissions: ["invoice:write"] };
const reaching: Grading = { ...changing, sideEffect: "external", riskLevel: "medium" };

test.each<[string, Grading]>([
  ["reads", reading],
  ["reads with a permission that allows more", { ...reading, permissions: ["invoice:admin"] }],
  ["changes something that can be undone", changing],
  ["changes something for good, when a person approves it", { ...changing, riskLevel: "high", requiresApproval: true }],
  ["reaches other agents", reaching],
  ["reaches other agents, when a person approves it", { ...reaching, requiresApproval: true }],
])("a tool may be one that %s", (_, grading) => {
  expect(gradingFaults(grading)).toEqual([]);
});

test.each<[string, Grading, string]>([
  ["reads at a risk", { ...reading, riskLevel: "medium" }, "set riskLevel to low"],
  ["reads but can't be repeated", { ...reading, idempotent: false }, "set idempotent to true"],
  ["reaches other agents at a low risk", { ...reaching, riskLevel: "low" }, "set riskLevel to medium or high"],
  ["is of high risk and needs no approval", { ...reaching, riskLevel: "high" }, "set requiresApproval to true"],
  [
    "changes something with a permission to read",
    { ...changing, permissions: ["invoice:read"] },
    "a permission to read",
  ],
])("a tool that %s is refused, and told what to do", (_, grading, advice) => {
  expect(gradingFaults(grading)).toEqual([expect.stringContaining(advice)]);
});

test("a contract that breaks a rule can't even be stated", () => {
  const { input, output, ...rest } = contracts[0];
  const wrong = { ...rest, name: "send_invoice", riskLevel: "high", requiresApproval: false } as const;
  const stated = () => defineContract({ ...wrong, input: z.strictObject({}), output, examples: [] });

  expect(stated).toThrow("Contract of send_invoice: what is of high risk needs approval");
});

describe.each(contracts)("$name", (contract: Contract) => {
  test("grades its risk by the rules", () => {
    expect(gradingFaults(contract)).toEqual([]);
  });
});
