import type * as z from "zod";
import { requiresApproval, type Settled, settleApproval } from "../_governance/approval_gate.ts";
import { audit } from "../_governance/audit.ts";
import { assertSameContract, assertSameRole } from "../_governance/unchanged.ts";
import { effectOfWinner, type Repeat, readIdempotency } from "../_table/idempotency.ts";
import { ConditionFailed } from "../_table/table.ts";
import { answer, asToolError, errorHeaders } from "./answer.ts";
import { assertSpeaksFor, authorise, KeyRefused, type Principal } from "./auth.ts";
import type { Contract } from "./contract.ts";
import { ToolError } from "./errors.ts";
import { failure } from "./failure.ts";
import { readInput } from "./input.ts";
import { type Invocation, type Origin, readInvocation } from "./invocation.ts";
import { type Log, logFor } from "./log.ts";
import { count } from "./metrics.ts";
import { type GatewayAnswer, noWait, type Wait } from "./request.ts";
import { outputWithError } from "./schema.ts";
import type { Outcome } from "./states.ts";

/** What a tool knows beside its input. */
export interface Context {
  principal: Principal;
  workspace: string;
  requestId: string;
  /** By which way it was asked: a schedule or an approval names itself. */
  origin: Origin;
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
 * Makes a tool's Lambda handler, the one edge between events and tools: authenticate, read the input, authorise, hold
 * back for approval, run, parse the output, name the errors, audit. For an event of the gateway or of our own parts it
 * never throws: every answer keeps the tool's shape.
 */
export function serve<I extends z.ZodObject, O extends z.ZodObject>(contract: Contract<I, O>, run: Run<I, O>) {
  return async (event: unknown): Promise<GatewayAnswer> => {
    const startedAt = Date.now();
    const invocation = readInvocation(event);
    const { requestId, origin } = invocation;
    const log = logFor({ request_id: requestId, tool: contract.name });
    const seen: Seen = { principal: undefined, raw: undefined, input: undefined, wait: undefined };
    const ended = await invoke(contract, run, invocation, log, seen).catch((thrown: unknown) =>
      refusal(contract, asToolError(thrown, log, requestId), log, seen),
    );
    const { status, outcome, errorType, approvalId = "" } = ended;
    count("Answers", "Outcome", outcome);
    const { principal, input } = seen;
    const facts = { requestId, origin, startedAt, input, outcome, errorType, approvalId, httpStatus: status };
    await audit(contract, principal, { ...facts, speaker: speakerIn(contract, input ?? seen.raw) }, log);
    return answer(requestId, status, ended.returns, { ...waitHeaders(seen.wait), ...ended.headers });
  };
}

/** What was understood of a request by the time it failed. */
interface Seen {
  principal: Principal | undefined;
  /** As it came. */
  raw: unknown;
  /** As it was read. */
  input: Record<string, unknown> | undefined;
  wait: Wait | undefined;
}

/** An invocation's end, before it is an HTTP answer. */
interface Ended {
  status: number;
  returns: Record<string, unknown>;
  outcome: Outcome;
  errorType: string;
  headers?: Record<string, string>;
  /** The approval that it waits for, or that it was denied by. */
  approvalId?: string;
}

async function invoke<I extends z.ZodObject, O extends z.ZodObject>(
  contract: Contract<I, O>,
  run: Run<I, O>,
  invocation: Invocation,
  log: Log,
  seen: Seen,
): Promise<Ended> {
  const { requestId, origin } = invocation;
  const request = await understand(contract, invocation, log, seen);
  const { principal, input, wait, repeat } = request;
  const settled: Settled = requiresApproval(contract, origin, repeat)
    ? await settleApproval({ ...request, contract, origin })
    : { repeat };
  if ("returns" in settled) return { ...settled, outcome: outcomeOf(settled.status) };
  const { workspace } = principal;
  const context = { principal, workspace, requestId, origin, wait, repeat: settled.repeat, log };
  const returns = await run(input, context).catch(async (error: unknown) => {
    const first = await firstOfTwo(error, context.repeat);
    return run(input, { ...context, repeat: first });
  });
  return endOf(outputWithError(contract).parse(shownTo(origin, contract, returns)) as Record<string, unknown>);
}

/** Reads and authorises a request, and notes in `seen` how far that went. @throws {ToolError} */
async function understand<I extends z.ZodObject>(contract: Contract<I>, invocation: Invocation, log: Log, seen: Seen) {
  const principal = await invocation.authenticate();
  seen.principal = principal;
  log.appendKeys({ workspace: principal.workspace, key_id: principal.keyId });
  authorise(principal, contract);
  assertSameContract(contract, invocation.unchanged);
  seen.raw = invocation.readBody();
  const input: z.output<I> & Record<string, unknown> = readInput(contract, seen.raw);
  seen.input = input;
  const speaker = speakerIn(contract, input);
  if (contract.speaker !== undefined) assertSpeaksFor(principal, speaker);
  await assertSameRole(principal.workspace, speaker, invocation.unchanged);
  const wait = contract.defaultWaitS === undefined ? noWait : invocation.readWait(contract.defaultWaitS);
  seen.wait = wait;
  nameRecords(log, input);
  const request = { principal, tool: contract.name, speaker, input };
  const clientKey = invocation.idempotencyKey();
  const isRepeatable = clientKey !== undefined && contract.sideEffect !== "none";
  const repeat = isRepeatable ? await readIdempotency({ ...request, clientKey }) : undefined;
  return { ...request, wait, repeat };
}

/** What a tool's own answer amounts to; one that reports a failure in `code` and `error` did not throw it. */
function endOf(returns: Record<string, unknown>): Ended {
  const { code, error } = returns as { code?: unknown; error?: { type: string } };
  const status = typeof code === "number" && code !== 0 ? code : 200;
  return { status, returns, outcome: code === 202 ? "pending" : outcomeOf(status), errorType: error?.type ?? "" };
}

/** The one who asked is not there to read the answer of an approved run. */
function shownTo({ via }: Origin, { secrets = [] }: Contract, returns: Record<string, unknown>) {
  if (via !== "approval") return returns;
  return { ...returns, ...Object.fromEntries(secrets.map((name) => [name, ""])) };
}

/** The agent that an input names as its speaker; empty when there is none. */
function speakerIn(contract: Contract, input: unknown): string {
  if (contract.speaker === undefined || typeof input !== "object" || input === null) return "";
  const speaker: unknown = Reflect.get(input, contract.speaker);
  return typeof speaker === "string" ? speaker : "";
}

function nameRecords(log: Log, input: Record<string, unknown>): void {
  for (const name of ["session_id", "call_id", "task_id"]) {
    if (typeof input[name] === "string") log.appendKeys({ [name]: input[name] });
  }
}

function refusal(contract: Contract, error: ToolError, log: Log, seen: Seen): Ended {
  if (error instanceof KeyRefused) seen.principal = error.principal;
  log.info("refused", { error_type: error.type, status: error.status });
  return {
    status: error.status,
    returns: failure(contract, error, seen.input ?? seen.raw),
    outcome: error.type === "APPROVAL_REQUIRED" ? "held" : outcomeOf(error.status),
    errorType: error.type,
    approvalId: approvalOf(error),
    headers: errorHeaders(error),
  };
}

/** The approval that an error is about; empty for any other error. */
function approvalOf({ particulars: { details } }: ToolError): string {
  const id = details?.approval_id;
  return typeof id === "string" ? id : "";
}

const outcomeOf = (status: number): Outcome => (status >= 500 ? "failed" : status >= 400 ? "refused" : "ok");

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
