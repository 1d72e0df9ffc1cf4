import { ProtocolError, ProtocolErrorCode, type Tool } from "@modelcontextprotocol/server";
import { closest, distance } from "fastest-levenshtein";
import { mayUse, type Principal } from "../../_runtime/auth.ts";
import type { Contract } from "../../_runtime/contract.ts";
import type { Language } from "../../_runtime/manifest.ts";
import { mcpTool } from "../../_runtime/mcp_tool.ts";
import { contracts } from "../../tools.ts";

/** MCP is how agents find their tools: those of operators are none of them, whatever the key allows. */
const forAgents: readonly Contract[] = contracts.filter(({ audience }) => audience === "agent");

export const findTool = (name: string): Contract | undefined => forAgents.find((contract) => contract.name === name);

/** What `tools/list` answers for a key. */
export const toolsOf = ({ scopes }: Principal, language: Language): Tool[] =>
  forAgents.filter((contract) => mayUse(scopes, contract)).map((contract) => mcpTool(contract, language) as Tool);

/** The protocol's answer to a name that isn't listed; its text is all that many clients show the model. */
export function unknownTool(name: string): ProtocolError {
  const asked = name.slice(0, 64).toWellFormed();
  const nearest = closest(
    asked,
    forAgents.map((contract) => contract.name),
  );
  const suggestion = distance(asked, nearest) <= asked.length / 2 ? ` Did you mean ${nearest}?` : "";
  return new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `Unknown tool: ${asked}.${suggestion} tools/list names the tools.`,
  );
}
