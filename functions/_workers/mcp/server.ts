import {
  type CallToolResult,
  createMcpHandler,
  isLegacyRequest,
  Server,
  type Tool,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import project from "../../../package.json" with { type: "json" };
import type { Log } from "../../_runtime/log.ts";

/** What a client can ask of one exchange. Nothing is kept between two of them. */
export interface Offer {
  list(): Tool[];
  call(name: string): Promise<CallToolResult>;
}

const instructions =
  "Switchboard lets agents call one another (call_agent), hand out work (assign_agent_work) and see who is busy " +
  "(get_agent_status). Code 202 in an answer is no error: the reply is not there yet. Do not call again; pick it up " +
  "with get_call. When a tool fails, its hint says what to do next.";

function serverOf({ list, call }: Offer): Server {
  const server = new Server(
    { name: "switchboard", title: "Switchboard", version: project.version },
    {
      capabilities: { tools: {} },
      instructions,
      // The list is the key's own, and changes with a deployment or the key's scopes.
      cacheHints: { "tools/list": { ttlMs: 60_000, cacheScope: "private" } },
    },
  );
  server.setRequestHandler("tools/list", () => ({ tools: list() }));
  server.setRequestHandler("tools/call", ({ params }) => call(params.name));
  return server;
}

/**
 * Answers one HTTP request with JSON, never with a stream, in the protocol revision that the request speaks:
 * 2026-07-28 and later say it in each message, those before it begin with `initialize`.
 */
export async function respond(request: Request, message: unknown, offer: Offer, log: Log): Promise<Response> {
  if (await isLegacyRequest(request, message)) return respondLegacy(request, message, offer);
  // No subscriptions: they are streams, and the list of tools never changes while one is open.
  const { fetch } = createMcpHandler(() => serverOf(offer), {
    legacy: "reject",
    maxSubscriptions: 0,
    onerror: ({ message }) => log.info("protocol error", { reason: message }),
  });
  return fetch(request, { parsedBody: message });
}

async function respondLegacy(request: Request, message: unknown, offer: Offer): Promise<Response> {
  const server = serverOf(offer);
  try {
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    await server.connect(transport);
    return await transport.handleRequest(request, { parsedBody: message });
  } finally {
    await server.close();
  }
}
