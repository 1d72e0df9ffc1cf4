import { randomUUID } from "node:crypto";
import type { CallToolResult } from "@modelcontextprotocol/server";
import * as z from "zod";
import { answer, asToolError, errorHeaders } from "../../_runtime/answer.ts";
import type { Contract } from "../../_runtime/contract.ts";
import { ToolError } from "../../_runtime/errors.ts";
import { failure } from "../../_runtime/failure.ts";
import { invokeTool } from "../../_runtime/invoke_tool.ts";
import { answerSize, limits } from "../../_runtime/limits.ts";
import type { Log } from "../../_runtime/log.ts";
import type { GatewayAnswer, GatewayEvent } from "../../_runtime/request.ts";
import { type Asked, metaOf } from "./meta.ts";

/** A call as it came: the tool reads the arguments itself, and forgives more than the protocol's schema does. */
export interface Call {
  contract: Contract;
  input: unknown;
  asked: Asked;
}

/**
 * Runs a tool by its own Lambda, which authenticates the caller's key, judges, runs and audits, exactly as for a
 * request over HTTP.
 * @throws {ToolError} UNAUTHENTICATED, which MCP says by the HTTP status; every other failure is a result
 */
export async function relay(call: Call, event: GatewayEvent, log: Log): Promise<CallToolResult> {
  const { contract, asked } = call;
  // Without a key of its own a call gets one: whatever is tried again between here and the tool has one effect,
  // and a client that was told of a failure can repeat the call safely.
  const idempotencyKey = asked.idempotencyKey ?? (contract.sideEffect === "none" ? undefined : randomUUID());
  const answered = await ask(call, idempotencyKey, event).catch((thrown: unknown) =>
    unreached(call, thrown, event, log),
  );
  if (answered.statusCode === 401) throw new ToolError("UNAUTHENTICATED", messageOf(answered));
  return { ...resultOf(answered), _meta: metaOf(answered.headers, idempotencyKey) };
}

const ask = async (call: Call, idempotencyKey: string | undefined, event: GatewayEvent) =>
  invokeTool(call.contract.name, toolEvent(call, idempotencyKey, event));

/** What the tool would have been sent over HTTP; only the route key says which way it came. */
function toolEvent({ contract, input, asked }: Call, idempotencyKey: string | undefined, event: GatewayEvent) {
  const prefer = asked.prefer ?? event.headers.prefer;
  return {
    ...event,
    rawPath: `/v1/tools/${contract.name}`,
    queryStringParameters: {},
    headers: {
      authorization: String(event.headers.authorization),
      "content-type": "application/json",
      ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
      ...(prefer !== undefined && { prefer }),
    },
    body: input === undefined ? "" : asJson(input),
    isBase64Encoded: false,
  };
}

/**
 * The arguments as JSON again.
 * @throws {ToolError} INVALID_INPUT for what can be read but not written: 1e400 would become null, which means absent,
 * and nesting without end has no place in any tool's input
 */
function asJson(input: unknown): string {
  try {
    return JSON.stringify(input, (name, value: unknown) => {
      if (typeof value !== "number" || Number.isFinite(value)) return value;
      throw new ToolError("INVALID_INPUT", `${name || "arguments"}: is a number beyond what can be counted.`);
    });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new ToolError("INVALID_INPUT", "arguments: are nested too deep to be read.");
  }
}

/** The function failed or was not reached: the tool's own shape, as if it had said so itself. */
function unreached({ contract, input }: Call, thrown: unknown, event: GatewayEvent, log: Log): GatewayAnswer {
  const { requestId } = event.requestContext;
  const error = asToolError(thrown, log, requestId);
  return answer(requestId, error.status, failure(contract, error, input), errorHeaders(error));
}

const failed = z.object({ error: z.object({ type: z.string(), message: z.string(), hint: z.string() }) });

const messageOf = ({ body }: GatewayAnswer) => failed.parse(JSON.parse(body)).error.message;

/** 200 and 202 are results; what else a tool answers is an error that the model reads, with what to do next. */
function resultOf({ statusCode, body }: GatewayAnswer): CallToolResult {
  const structuredContent: Record<string, unknown> = JSON.parse(body);
  // A client holds a result against the output schema, and what waits for approval has no result yet.
  const isResult = statusCode < 300 && ("code" in structuredContent || !("error" in structuredContent));
  if (isResult) return { content: [text(asText(structuredContent, body))], structuredContent };
  const { error } = failed.parse(structuredContent);
  // Some clients hold a failure too against the output schema. Agents' tools keep their shape, which begins with
  // `code`; a repository tool's `{error}` has none, and is text only.
  const inShape = "code" in structuredContent;
  return {
    isError: true,
    content: [text(`${error.type}: ${error.message} ${error.hint}`), text(body)],
    ...(inShape && { structuredContent }),
  };
}

const text = (value: string) => ({ type: "text" as const, text: value });

/** The structured content again, for clients that read only text; unless both together are more than Lambda passes on. */
function asText(structured: unknown, body: string): string {
  const bytes = answerSize([structured, body]);
  if (bytes <= limits.answerBytes) return body;
  return `The answer has ${Buffer.byteLength(body)} bytes: read structuredContent, or ask for less at a time.`;
}
