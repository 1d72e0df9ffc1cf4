import { mcpTool } from "../../../_runtime/mcp_tool.ts";
import type { PlatformFormat } from "./format.ts";

/** Tools as MCP's `tools/list` answers them. The hints tell all of sideEffect and idempotent, and of riskLevel only "high". */
export const mcp: PlatformFormat = {
  expresses: ["name", "title", "displayName", "description", "inputSchema", "outputSchema", "sideEffect", "idempotent"],
  inputSchema: (schema) => schema,
  tool: mcpTool,
};
