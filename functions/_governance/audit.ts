import { createHmac } from "node:crypto";
import { maySpeakFor, type Principal } from "../_runtime/auth.ts";
import type { Contract } from "../_runtime/contract.ts";
import type { Origin } from "../_runtime/invocation.ts";
import type { Log } from "../_runtime/log.ts";
import { count } from "../_runtime/metrics.ts";
import type { Outcome } from "../_runtime/states.ts";
import { isAgentName } from "../_table/agents.ts";
import { type AuditEvent, putAuditEvent } from "../_table/audit_events.ts";
import { canonical } from "../_table/idempotency.ts";

/** An invocation that is over. */
export interface Ended {
  requestId: string;
  origin: Origin;
  startedAt: number;
  /** As it was read; undefined when it could not be: what came then may be anything, of any depth. */
  input: Record<string, unknown> | undefined;
  /** Whom the input names as speaker; empty for none. */
  speaker: string;
  outcome: Outcome;
  httpStatus: number;
  errorType: string;
  /** The approval that it waits for, or that it was denied by; empty for none. */
  approvalId: string;
}

/** The whole time that a tool's answer may wait for its audit event, with all tries. */
const mostDelayMs = 1_000;

/**
 * Writes the audit event of an invocation. It never fails: an event that can't be stored in time goes whole to the log,
 * and a metric counts it. Requests of nobody (no known key) belong to no workspace; their refusal is in the log only.
 */
export async function audit(contract: Contract, principal: Principal | undefined, ended: Ended, log: Log) {
  if (principal === undefined) return;
  const event = eventOf(contract, principal, ended);
  try {
    await inTime(AbortSignal.timeout(mostDelayMs), (signal) => putAuditEvent(event, signal));
  } catch (error) {
    log.error("audit event not stored", { audit_event: event, error: error as Error });
    count("AuditEventsLost");
  }
}

/** The SDK sees the signal while a request is under way, but not between its tries. @throws {Error} when it is over */
async function inTime(signal: AbortSignal, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const over = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
  await Promise.race([work(signal), over]);
}

function eventOf(contract: Contract, principal: Principal, ended: Ended): AuditEvent {
  const { requestId, origin, startedAt, input, speaker } = ended;
  const now = Date.now();
  return {
    at: new Date(now).toISOString(),
    workspace: principal.workspace,
    request_id: requestId,
    key_id: principal.keyId,
    actor: principal.actor,
    // A name that the key may not speak for could be anything, so it is not kept.
    agent: isAgentName(speaker) && maySpeakFor(principal, speaker) ? speaker : "",
    tool: contract.name,
    tool_version: contract.version,
    risk_level: contract.riskLevel,
    outcome: ended.outcome,
    error_type: ended.errorType,
    http_status: ended.httpStatus,
    duration_ms: now - startedAt,
    input_digest: input === undefined ? "" : digest(principal.digestKey, input),
    via: origin.via,
    approval_id: origin.approvalId || ended.approvalId,
    schedule_id: origin.scheduleId,
  };
}

/** Keyed, so that whoever reads the trail can't find out by guessing what was said. */
const digest = (key: string, input: unknown) => createHmac("sha256", key).update(canonical(input)).digest("hex");
