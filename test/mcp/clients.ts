import { Client as Client2026, StreamableHTTPClientTransport as Transport2026 } from "@modelcontextprotocol/client";
import { Client as Client2025 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as Transport2025 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

export const revisions = ["2026-07-28", "2025-11-25"] as const;
export type Revision = (typeof revisions)[number];

export interface ListedTool {
  name: string;
  title?: string | undefined;
  description?: string | undefined;
  inputSchema: Record<string, unknown>;
  outputSchema?: Record<string, unknown> | undefined;
  annotations?: Record<string, unknown> | undefined;
}

export interface ToolResult {
  content: { type: string; text?: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
  _meta?: Record<string, unknown>;
}

/** An official client as a host uses it; both hold each structured answer against the tool's output schema. */
export interface McpClient {
  instructions: string | undefined;
  revision: string | undefined;
  list(): Promise<ListedTool[]>;
  /** @param meta goes in the request's `_meta` */
  call(name: string, input?: Record<string, unknown>, meta?: Record<string, unknown>): Promise<ToolResult>;
  close(): Promise<void>;
}

const info = { name: "switchboard-test", version: "1.0.0" };

/**
 * Connects the official client of a protocol revision: `@modelcontextprotocol/client`, or `@modelcontextprotocol/sdk`
 * for 2025-11-25.
 * @param query of the address, for example `lang=zh-CN`
 */
export async function connect(revision: Revision, url: string, key: string, query = ""): Promise<McpClient> {
  const address = new URL(`${url}/mcp${query && `?${query}`}`);
  const options = { requestInit: { headers: { authorization: `Bearer ${key}` } } };
  const client =
    revision === "2026-07-28"
      ? new Client2026(info, { versionNegotiation: { mode: { pin: revision } } })
      : new Client2025(info);
  const transport =
    revision === "2026-07-28" ? new Transport2026(address, options) : new Transport2025(address, options);
  // Each client takes its own transport; the two have one shape.
  await (client as Client2026).connect(transport as Transport2026);
  return {
    instructions: client.getInstructions(),
    revision:
      "getNegotiatedProtocolVersion" in client ? client.getNegotiatedProtocolVersion() : transport.protocolVersion,
    list: async () => (await client.listTools()).tools as ListedTool[],
    call: async (name, input = {}, _meta) =>
      (await client.callTool({ name, arguments: input, ...(_meta && { _meta }) })) as ToolResult,
    close: () => client.close(),
  };
}
