import { randomUUID } from "node:crypto";
import * as z from "zod";

interface Endpoint {
  url: string;
  key: string;
}

const result = z.object({ result: z.object({ isError: z.boolean().optional(), structuredContent: z.unknown() }) });

function post({ url, key }: Endpoint, method: string, params: object): Promise<Response> {
  return fetch(`${url}/mcp`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2025-11-25",
      authorization: `Bearer ${key}`,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: randomUUID(), method, params }),
  });
}

/** Whether the system has an MCP endpoint. */
export async function speaksMcp(endpoint: Endpoint): Promise<boolean> {
  const response = await post(endpoint, "ping", {});
  await response.body?.cancel();
  return response.status !== 404;
}

/** Calls a tool as an MCP client does. @throws {Error} when the tool fails */
export async function callOverMcp(
  endpoint: Endpoint,
  name: string,
  args: object,
  idempotencyKey: string,
): Promise<unknown> {
  const _meta = { "switchboard/idempotencyKey": idempotencyKey };
  const response = await post(endpoint, "tools/call", { name, arguments: args, _meta });
  const text = await response.text();
  // A stateless server may answer in one event of a stream.
  const parsed = result.safeParse(JSON.parse(text.replace(/^(event|id):.*\n|^data: /gm, "")));
  if (!parsed.success || parsed.data.result.isError) throw new Error(`${name} over MCP: ${text.slice(0, 500)}`);
  return parsed.data.result.structuredContent;
}
