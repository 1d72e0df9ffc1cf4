import type { Contract } from "./contract.ts";

type Graded = Pick<Contract, "riskLevel" | "idempotent" | "sideEffect" | "requiresApproval" | "permissions">;

/**
 * What is wrong with how a tool grades its risk; empty when nothing is. Low: reads, or internal changes that can be
 * undone. Medium: makes other agents act, or writes outside. High: hard to undo, costs money or reaches people, so
 * that a person approves it (design, section 1).
 */
export function gradingFaults(tool: Graded): string[] {
  const { riskLevel, idempotent, sideEffect, requiresApproval, permissions } = tool;
  const reads = permissions.length > 0 && permissions.every((permission) => permission.endsWith(":read"));
  const rules: [isBroken: boolean, fault: string][] = [
    [sideEffect === "none" && riskLevel !== "low", "what has no side effect is of low risk: set riskLevel to low"],
    [sideEffect === "none" && !idempotent, "what has no side effect can be repeated: set idempotent to true"],
    [
      sideEffect === "external" && riskLevel === "low",
      "what makes other agents act or writes outside is of medium risk at least: set riskLevel to medium or high",
    ],
    [riskLevel === "high" && !requiresApproval, "what is of high risk needs approval: set requiresApproval to true"],
    [
      sideEffect !== "none" && reads,
      "a permission to read allows no change: ask for another, or set sideEffect to none",
    ],
  ];
  return rules.filter(([isBroken]) => isBroken).map(([, fault]) => fault);
}
