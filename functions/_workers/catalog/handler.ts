import { answer, asToolError, errorHeaders } from "../../_runtime/answer.ts";
import { authenticate } from "../../_runtime/auth.ts";
import { commonErrors, ToolError } from "../../_runtime/errors.ts";
import { faultOf } from "../../_runtime/failure.ts";
import { logFor } from "../../_runtime/log.ts";
import { languageOf } from "../../_runtime/manifest.ts";
import { type GatewayAnswer, type GatewayEvent, parseEvent } from "../../_runtime/request.ts";
import { contracts } from "../../tools.ts";
import { list, one } from "./catalog.ts";
import { openApi } from "./openapi/document.ts";
import { page, pageHeaders } from "./page/page.ts";

/** Answers every route that is not a tool: health, the catalog, its documents, and what doesn't exist. */
export async function handler(rawEvent: unknown): Promise<GatewayAnswer> {
  const event = parseEvent(rawEvent);
  const { requestId } = event.requestContext;
  try {
    return await route(event);
  } catch (thrown) {
    const error = asToolError(thrown, logFor({ request_id: requestId, worker: "catalog" }), requestId);
    const body = { code: error.status, msg: error.message, error: faultOf(error, commonErrors) };
    return answer(requestId, error.status, body, errorHeaders(error));
  }
}

type Query = GatewayEvent["queryStringParameters"];

/** What anybody may read, since it is the same for every key. */
const openRoutes: Record<string, (requestId: string, query: Query) => GatewayAnswer> = {
  "/healthz": (requestId) => answer(requestId, 200, { status: "ok" }),
  "/openapi.json": (requestId, query) => answer(requestId, 200, openApi(contracts, languageOf(query))),
  "/docs": (requestId, query) => ({
    ...answer(requestId, 200, {}, pageHeaders),
    body: page(contracts, languageOf(query)),
  }),
};

async function route(event: GatewayEvent): Promise<GatewayAnswer> {
  const path = pathOf(event);
  const { requestContext, queryStringParameters: query } = event;
  const { method } = requestContext.http;
  // MCP clients ask here for a stream and for the end of a session; there is neither.
  if (path === "/mcp") throw postOnly(method);
  const open = Object.hasOwn(openRoutes, path) ? openRoutes[path] : undefined;
  const [, name] = /^\/v1\/tools\/([^/]+)$/.exec(path) ?? [];
  if (open === undefined && path !== "/v1/tools" && name === undefined) throw unknownRoute(method, path);
  if (name !== undefined) assertTool(name);
  if (method !== "GET") throw wrongMethod(method, name);
  if (open !== undefined) return open(requestContext.requestId, query);
  const { scopes } = await authenticate(event);
  const found = name === undefined ? list(contracts, scopes, query) : one(contracts, name, scopes, query);
  return answer(requestContext.requestId, 200, found);
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
