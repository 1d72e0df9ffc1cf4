import { answer, errorHeaders } from "../../_runtime/answer.ts";
import { env } from "../../_runtime/env.ts";
import { commonErrors, ToolError } from "../../_runtime/errors.ts";
import { faultOf } from "../../_runtime/failure.ts";
import type { GatewayAnswer, GatewayEvent } from "../../_runtime/request.ts";

/** The headers by which the protocol names revision, method and tool; what else a client sends is no concern of it. */
const protocolHeaders = ["content-type", "mcp-protocol-version", "mcp-method", "mcp-name"];

/** The request as the protocol's library reads it: its body is handed over parsed, its key stays here. */
export function requestOf({ headers }: GatewayEvent): Request {
  const sent = protocolHeaders.flatMap((name) => {
    const value = headers[name];
    // Another value can't have come by HTTP (RFC 9110, 5.5), and `Headers` throws at it.
    return value !== undefined && /^[\t -~]*$/.test(value) ? [[name, value] as [string, string]] : [];
  });
  // We answer with JSON alone, and have checked that the client takes it; the protocol wants to hear both.
  sent.push(["accept", "application/json, text/event-stream"]);
  return new Request("https://switchboard/mcp", { method: "POST", headers: sent });
}

/** The answer of the protocol's library, as the gateway takes it. */
export async function gatewayAnswer(requestId: string, response: Response): Promise<GatewayAnswer> {
  const body = await response.text();
  const headers = {
    // An accepted notification has no body.
    ...(body !== "" && { "content-type": "application/json; charset=utf-8" }),
    "cache-control": "no-store",
    "x-request-id": requestId,
  };
  return { statusCode: response.status, headers, body };
}

/** JSON-RPC's names for what went wrong before a message was understood; -32000 is the first that a server may choose. */
const codes: Partial<Record<ToolError["type"], number>> = {
  INVALID_JSON: -32700,
  INVALID_INPUT: -32600,
  REQUEST_TOO_LARGE: -32600,
  INTERNAL: -32603,
};

/** A refusal by the HTTP status, with a JSON-RPC error that carries what a tool would say in `error`. */
export function refusal(requestId: string, error: ToolError, id: string | number | undefined): GatewayAnswer {
  const fault = { code: codes[error.type] ?? -32000, message: error.message, data: faultOf(error, commonErrors) };
  return answer(requestId, error.status, { jsonrpc: "2.0", id: id ?? null, error: fault }, errorHeaders(error));
}

/**
 * The specification makes servers refuse pages of unknown origin (2026-07-28, Streamable HTTP). A page has no key to
 * send, so this is no more than a second lock. What is no browser sends no Origin.
 * @throws {ToolError} ORIGIN_NOT_ALLOWED
 */
export function assertOrigin({ headers: { origin } }: GatewayEvent): void {
  const allowed = env().ALLOWED_ORIGINS;
  if (origin === undefined || allowed.includes("*") || allowed.includes(origin)) return;
  throw new ToolError("ORIGIN_NOT_ALLOWED", "Web pages of this origin may not call the API.", {
    hint: "Ask the operator to add it to corsOrigins.",
  });
}

/**
 * @throws {ToolError} NOT_ACCEPTABLE when the client takes no JSON: nothing else is ever answered, since the HTTP
 * API does not stream
 */
export function assertTakesJson({ headers: { accept = "*/*" } }: GatewayEvent): void {
  const types = accept
    .toLowerCase()
    .split(",")
    .map((range) => range.replace(/;.*/, "").trim());
  if (types.some((type) => ["application/json", "application/*", "*/*"].includes(type))) return;
  throw new ToolError("NOT_ACCEPTABLE", "The client does not take application/json.", {
    hint: "Send 'Accept: application/json, text/event-stream'. Every answer is JSON; nothing is streamed.",
  });
}
