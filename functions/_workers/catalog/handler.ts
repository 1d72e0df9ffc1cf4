import { authenticate } from "../../_runtime/auth.ts";
import { commonErrors, ToolError } from "../../_runtime/errors.ts";
import { faultOf } from "../../_runtime/failure.ts";
import { logFor } from "../../_runtime/log.ts";
import { type GatewayAnswer, type GatewayEvent, parseEvent } from "../../_runtime/request.ts";
import { answer, asToolError, errorHeaders } from "../../_runtime/serve.ts";
import { contracts } from "../../tools.ts";
import { list, one } from "./catalog.ts";

/** Answers every route that is not a tool: health, the catalog, and what doesn't exist. */
export async function handler(rawEvent: unknown): Promise<GatewayAnswer> {
  const event = parseEvent(rawEvent);
  const { requestId } = event.requestContext;
  try {
    return answer(requestId, 200, await route(event));
  } catch (thrown) {
    const error = asToolError(thrown, logFor({ request_id: requestId, worker: "catalog" }), requestId);
    const body = { code: error.status, msg: error.message, error: faultOf(error, commonErrors) };
    return answer(requestId, error.status, body, errorHeaders(error));
  }
}

async function route(event: GatewayEvent): Promise<Record<string, unknown>> {
  const path = pathOf(event);
  const { method } = event.requestContext.http;
  if (path === "/healthz" && method === "GET") return { status: "ok" };
  // MCP clients ask here for a stream and for the end of a session; there is neither.
  if (path === "/mcp") throw postOnly(method);
  const [, name] = /^\/v1\/tools(?:\/([^/]+))?$/.exec(path) ?? [];
  if (!path.startsWith("/v1/tools") || (path !== "/v1/tools" && name === undefined)) throw unknownRoute(method, path);
  if (name !== undefined) assertTool(name);
  if (method !== "GET") throw wrongMethod(method, name);
  const { scopes } = await authenticate(event);
  return name === undefined
    ? list(scopes, event.queryStringParameters)
    : one(name, scopes, event.queryStringParameters);
}

/** A stage other than `$default` stands at the head of rawPath; on a custom domain it doesn't. */
function pathOf({ rawPath, requestContext: { stage } }: GatewayEvent): string {
  return rawPath.startsWith(`/${stage}/`) ? rawPath.slice(stage.length + 1) : rawPath;
}

function unknownRoute(method: string, path: string): ToolError {
  return new ToolError("TOOL_NOT_FOUND", `There is no ${method} ${path.slice(0, 100).toWellFormed()}.`, {
    hint: "Call tools with POST /v1/tools/{tool}; GET /v1/tools lists them.",
  });
}

function assertTool(name: string): void {
  if (contracts.some((contract) => contract.name === name)) return;
  throw new ToolError("TOOL_NOT_FOUND", `There is no tool '${name.slice(0, 64).toWellFormed()}'.`, {
    hint: "GET /v1/tools lists the tools.",
  });
}

function postOnly(method: string): ToolError {
  return new ToolError("METHOD_NOT_ALLOWED", `${method} is not used here.`, {
    hint: "Send each MCP message with POST; nothing is streamed, and there are no sessions.",
    allow: "POST",
  });
}

function wrongMethod(method: string, name: string | undefined): ToolError {
  return new ToolError("METHOD_NOT_ALLOWED", `${method} is not used here.`, {
    hint: name === undefined ? "Use GET." : `Use POST to call ${name}, GET to read its definition.`,
    allow: name === undefined ? "GET" : "GET, POST",
  });
}
