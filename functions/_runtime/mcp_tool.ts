import type { Contract } from "./contract.ts";
import { definition, type Language } from "./manifest.ts";

/**
 * A tool as MCP lists it (revisions 2025-11-25 and 2026-07-28, `Tool`). The hints say what the governance fields
 * say: what has no side effect only reads, what is of high risk is hard to undo, what reaches beyond this
 * system meets an open world.
 */
export function mcpTool(contract: Contract, language: Language) {
  const { name, title, description, inputSchema, outputSchema } = definition(contract, language);
  const { sideEffect, riskLevel, idempotent } = contract;
  return {
    name,
    title,
    description,
    inputSchema,
    outputSchema,
    annotations: {
      title,
      readOnlyHint: sideEffect === "none",
      destructiveHint: riskLevel === "high",
      idempotentHint: idempotent,
      openWorldHint: sideEffect === "external",
    },
  };
}
