import type { Contract } from "../_runtime/contract.ts";
import { ToolError } from "../_runtime/errors.ts";
import type { Invocation } from "../_runtime/invocation.ts";
import { readAgent } from "../_table/agents.ts";

/** The role that an agent speaks with; empty for one that isn't registered. */
export async function roleOf(workspace: string, speaker: string): Promise<string> {
  return speaker === "" ? "" : ((await readAgent(workspace, speaker))?.role ?? "");
}

/*
 * What is done later than it was asked for is done only if it still means the same: by the same contract, by an agent
 * of the same role (design, section 8). The key is checked like any other's.
 */

/** Checked before the input is read: by another contract it may mean nothing. @throws {ToolError} CONTRACT_CHANGED */
export function assertSameContract(contract: Contract, { version }: Invocation["unchanged"]): void {
  if (version === undefined || version === contract.version) return;
  throw new ToolError("CONTRACT_CHANGED", `${contract.name} is ${contract.version} now; this was asked of ${version}.`);
}

/** @throws {ToolError} ROLE_CHANGED */
export async function assertSameRole(
  workspace: string,
  speaker: string,
  { role }: Invocation["unchanged"],
): Promise<void> {
  if (role === undefined) return;
  const now = await roleOf(workspace, speaker);
  if (now === role) return;
  const shown = (name: string) => (name === "" ? "not registered" : name);
  throw new ToolError("ROLE_CHANGED", `${speaker} is ${shown(now)} now; when this was asked it was ${shown(role)}.`);
}
