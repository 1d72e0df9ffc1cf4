import type { Principal } from "../_runtime/auth.ts";
import type { Contract } from "../_runtime/contract.ts";
import { env } from "../_runtime/env.ts";
import { ToolError } from "../_runtime/errors.ts";
import type { Origin } from "../_runtime/invocation.ts";
import { iso } from "../_runtime/time.ts";
import { isAgentName } from "../_table/agents.ts";
import {
  type Approval,
  approvalStatus,
  newApprovalId,
  newApprovalWrite,
  putHeldInput,
  readApproval,
  readResult,
} from "../_table/approvals.ts";
import { effectOfWinner, keptMs, type Repeat, readIdempotency, rememberWrites } from "../_table/idempotency.ts";
import { ConditionFailed, transact } from "../_table/table.ts";
import { roleOf } from "./unchanged.ts";

/** A request at the gate: all of it is read and authorised. */
interface GatedRequest {
  contract: Contract;
  principal: Principal;
  tool: string;
  /** The agent that speaks; empty for a tool without a speaker. */
  speaker: string;
  input: Record<string, unknown>;
  origin: Origin;
  repeat: Repeat | undefined;
}

/** What comes of a request at the gate: it runs (`repeat` finds what it did before), or this is its answer. */
export type Settled =
  | { repeat: Repeat | undefined }
  | { status: number; returns: Record<string, unknown>; errorType: string };

/** A request that was held back has the approval that it waits for as the effect in its idempotency record. */
const effectPrefix = "approval:";
const approvalIn = (effect: string | undefined) =>
  effect?.startsWith(effectPrefix) ? effect.slice(effectPrefix.length) : undefined;

/** Under this an approved request runs, once. The space keeps it apart from every client's key. */
export const approvedRunKey = (approvalId: string) => `approval ${approvalId}`;

/**
 * Whether a request goes through the gate: its tool's contract or the operator asks for approval, or it did when this
 * request came first. What only reads has nothing that could be held back, and what was approved passes.
 */
export function requiresApproval(contract: Contract, { via }: Origin, repeat: Repeat | undefined): boolean {
  if (contract.sideEffect === "none" || via === "approval") return false;
  if (repeat?.effect !== undefined) return approvalIn(repeat.effect) !== undefined;
  return contract.requiresApproval || env().APPROVAL_TOOLS.includes(contract.name);
}

/**
 * Holds a new request back, or says what became of one that was held back: after it has run, a repeat goes on to the
 * tool, which finds its effect and answers with its state as it is now.
 * @throws {ToolError} APPROVAL_REQUIRED (202), APPROVAL_DENIED, APPROVAL_EXPIRED
 */
export async function settleApproval(request: GatedRequest): Promise<Settled> {
  const id = approvalIn(request.repeat?.effect) ?? (await hold(request));
  const { workspace } = request.principal;
  const approval = await readApproval(workspace, id);
  const status = approval && approvalStatus(approval, Date.now());
  if (approval === undefined || status === "expired") {
    throw new ToolError("APPROVAL_EXPIRED", "Nobody approved this in time.", { details: { approval_id: id } });
  }
  switch (status) {
    case "executed":
      return afterRun(request, approval);
    case "failed":
      return resultOf(workspace, approval);
    case "denied":
      throw new ToolError("APPROVAL_DENIED", `A person has refused this${saying(approval)}.`, {
        details: { approval_id: id },
      });
    default:
      throw waiting(approval, request);
  }
}

const saying = ({ comment }: Approval) => (comment === "" ? "" : ` and says ${JSON.stringify(comment)}`);

/** Parks the exact input as it was read. @returns the approval's id, also when a parallel repeat parked it */
async function hold(request: GatedRequest): Promise<string> {
  const { contract, principal, speaker, input } = request;
  const now = Date.now();
  const approval: Approval = {
    id: newApprovalId(now),
    status: "pending",
    tool: contract.name,
    tool_version: contract.version,
    risk_level: contract.riskLevel,
    side_effect: contract.sideEffect,
    key_id: principal.keyId,
    actor: principal.actor,
    // A name that no agent can have might be anything, also a line of text that misleads whoever decides.
    agent: isAgentName(speaker) ? speaker : "",
    role: await roleOf(principal.workspace, speaker),
    schedule_id: request.origin.scheduleId,
    requested_at: now,
    expires_at: now + env().APPROVAL_HOURS * 3_600_000,
    decided_by: "",
    comment: "",
    error_type: "",
  };
  // Without a key of the caller's own, the approval's id is the key by which a repeat gets the result.
  const repeat = request.repeat ?? (await readIdempotency({ ...request, clientKey: approval.id }));
  await putHeldInput(principal.workspace, approval, input);
  const remembered = rememberWrites(repeat, `${effectPrefix}${approval.id}`, approval.expires_at + keptMs);
  try {
    await transact([newApprovalWrite(principal.workspace, approval), ...remembered]);
    return approval.id;
  } catch (error) {
    const winner = error instanceof ConditionFailed ? approvalIn(await effectOfWinner(repeat)) : undefined;
    if (winner === undefined) throw error;
    return winner;
  }
}

function waiting({ id, status, expires_at }: Approval, { repeat }: GatedRequest): ToolError {
  const said =
    status === "approved" ? "A person has approved this; it runs in a moment." : "A person must approve this first.";
  const key = repeat === undefined ? `Idempotency-Key: ${id}` : "the same Idempotency-Key";
  return new ToolError("APPROVAL_REQUIRED", said, {
    hint: `Nothing has been done yet. Repeat the same request with ${key} later to get its result; do not ask anew.`,
    details: { approval_id: id, expires_at: iso(expires_at), ...(repeat === undefined && { idempotency_key: id }) },
  });
}

/** The tool's own record of the effect answers with the state as it is now; without it, the answer that it gave. */
async function afterRun(request: GatedRequest, approval: Approval): Promise<Settled> {
  const repeat = await readIdempotency({ ...request, clientKey: approvedRunKey(approval.id) });
  return repeat.effect === undefined ? resultOf(request.principal.workspace, approval) : { repeat };
}

async function resultOf(workspace: string, approval: Approval): Promise<Settled> {
  const result = await readResult(workspace, approval);
  return {
    status: approval.http_status ?? 500,
    returns: (result ?? {}) as Record<string, unknown>,
    errorType: approval.error_type,
  };
}
