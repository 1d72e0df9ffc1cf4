import type * as z from "zod";
import { effectOfWinner, type Repeat, readIdempotency } from "../_table/idempotency.ts";
import { ConditionFailed } from "../_table/table.ts";
import { assertSpeaksFor, authenticate, authorise, type Principal } from "./auth.ts";
import type { Contract } from "./contract.ts";
import { ToolError } from "./errors.ts";
import { failure, retryAfter } from "./failure.ts";
import { readInput } from "./input.ts";
import { type Log, logFor } from "./log.ts";
import { count } from "./metrics.ts";
import {
  type GatewayAnswer,
  type GatewayEvent,
  idempotencyKey,
  noWait,
  parseEvent,
  readJson,
  readWait,
  type Wait,
} from "./request.ts";
import { outputWithError } from "./schema.ts";

/** What a tool knows beside its input. */
export interface Context {
  principal: Principal;
  workspace: string;
  requestId: string;
  wait: Wait;
  /** How this request's effect is found again; absent without an Idempotency-Key. */
  repeat: Repeat | undefined;
  log: Log;
}

/** A tool's returns; `code` 202 makes the HTTP status 202, `code` 0 (the default) 200. */
export type Run<I extends z.ZodObject, O extends z.ZodObject> = (
  input: z.output<I>,
  context: Context,
) => Promise<z.input<O>>;

/**
 * Makes a tool's Lambda handler, the one edge between HTTP API events and tools: authenticate, read the
 * input, authorise, run, parse the output, name the errors. For an event of the gateway it never throws:
 * every answer keeps the tool's shape.
 */
export function serve<I extends z.ZodObject, O extends z.ZodObject>(contract: Contract<I, O>, run: Run<I, O>) {
  return async (rawEvent: unknown): Promise<GatewayAnswer> => {
    const event = parseEvent(rawEvent);
    const { requestId } = event.requestContext;
    const log = logFor({ request_id: requestId, tool: contract.name });
    const seen: Seen = { raw: undefined, wait: undefined };
    try {
      const returns = await invoke(contract, run, event, log, seen);
      count("Answers", "Outcome", returns.code === 202 ? "pending" : "ok");
      const { code = 0 } = returns;
      return answer(requestId, code === 0 ? 200 : Number(code), returns, waitHeaders(seen.wait));
    } catch (thrown) {
      const error = asToolError(thrown, log, requestId);
      count("Answers", "Outcome", error.status >= 500 ? "failed" : "refused");
      log.info("refused", { error_type: error.type, status: error.status });
      return answer(requestId, error.status, failure(contract, error, seen.raw), {
        ...waitHeaders(seen.wait),
        ...errorHeaders(error),
      });
    }
  };
}

/** What was understood of a request by the time it failed. */
interface Seen {
  raw: unknown;
  wait: Wait | undefined;
}

async function invoke<I extends z.ZodObject, O extends z.ZodObject>(
  contract: Contract<I, O>,
  run: Run<I, O>,
  event: GatewayEvent,
  log: Log,
  seen: Seen,
): Promise<Record<string, unknown>> {
  const principal = await authenticate(event);
  log.appendKeys({ workspace: principal.workspace, key_id: principal.keyId });
  authorise(principal, contract);
  seen.raw = readJson(event);
  const input = readInput(contract, seen.raw);
  seen.raw = input;
  const speaker = contract.speaker === undefined ? "" : String(input[contract.speaker]);
  if (contract.speaker !== undefined) assertSpeaksFor(principal, speaker);
  seen.wait = contract.defaultWaitS === undefined ? noWait : readWait(event, contract.defaultWaitS);
  const clientKey = idempotencyKey(event);
  const repeat =
    clientKey === undefined || contract.sideEffect === "none"
      ? undefined
      : await readIdempotency({ principal, tool: contract.name, speaker, clientKey, input });
  for (const name of ["session_id", "call_id", "task_id"]) {
    if (typeof input[name] === "string") log.appendKeys({ [name]: input[name] });
  }
  const { workspace } = principal;
  const { requestId } = event.requestContext;
  const context = { principal, workspace, requestId, wait: seen.wait, repeat, log };
  const returns = await run(input, context).catch(async (error: unknown) => {
    const first = await firstOfTwo(error, repeat);
    return run(input, { ...context, repeat: first });
  });
  return outputWithError(contract).parse(returns) as Record<string, unknown>;
}

/**
 * The same request may have come twice at once: then what the other one did stands in the way of this one, and
 * is its answer too.
 * @throws {unknown} `error`, when it is about something else
 */
async function firstOfTwo(error: unknown, repeat: Repeat | undefined): Promise<Repeat> {
  const mayBe = error instanceof ToolError || error instanceof ConditionFailed;
  const effect = mayBe && repeat?.effect === undefined ? await effectOfWinner(repeat) : undefined;
  if (repeat === undefined || effect === undefined) throw error;
  return { ...repeat, effect };
}

const waitHeaders = (wait: Wait | undefined): Record<string, string> =>
  wait?.applied === undefined ? {} : { "preference-applied": wait.applied };

/** A JSON answer with the headers that all answers have. */
export function answer(
  requestId: string,
  statusCode: number,
  body: Record<string, unknown>,
  extra: Record<string, string> = {},
): GatewayAnswer {
  const headers = {
    "content-type": "application/json; charset=utf-8",
    "cache-control": "no-store",
    "x-request-id": requestId,
    ...extra,
  };
  return { statusCode, headers, body: JSON.stringify(body) };
}

export function errorHeaders(error: ToolError): Record<string, string> {
  return {
    ...(error.type === "UNAUTHENTICATED" && { "www-authenticate": 'Bearer realm="switchboard"' }),
    ...(error.particulars.allow !== undefined && { allow: error.particulars.allow }),
    ...retryAfter(error),
  };
}

const overload =
  /Throttl|ProvisionedThroughput|RequestLimit|Transaction(Canceled|Conflict|InProgress)|Timeout|ECONN|EPIPE|ServiceUnavailable|InternalServerError/;

/** Names what was thrown. Nothing of an unexpected error leaves but the request id; the log has all of it. */
export function asToolError(thrown: unknown, log: Log, requestId: string): ToolError {
  if (thrown instanceof ToolError) return thrown;
  log.error("unexpected error", thrown as Error);
  const { name = "", code = "" } = thrown as { name?: string; code?: string };
  if (overload.test(`${name} ${code}`)) {
    return new ToolError("UNAVAILABLE", "A part of the service is overloaded or does not answer.", { retryAfterS: 2 });
  }
  return new ToolError("INTERNAL", `Unexpected error; request id ${requestId}.`);
}
