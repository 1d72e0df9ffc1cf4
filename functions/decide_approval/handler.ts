import { approvalReturns, heldText } from "../_governance/approval_view.ts";
import { endApproval } from "../_governance/end_approval.ts";
import { runApproved } from "../_governance/run_approved.ts";
import type { Principal } from "../_runtime/auth.ts";
import { type ErrorType, ToolError } from "../_runtime/errors.ts";
import { limits } from "../_runtime/limits.ts";
import { type Context, serve } from "../_runtime/serve.ts";
import {
  type Approval,
  approvalStatus,
  readApproval,
  readHeldInput,
  readResult,
  transitionWrite,
} from "../_table/approvals.ts";
import { rememberWrites } from "../_table/idempotency.ts";
import { ConditionFailed, transact } from "../_table/table.ts";
import { contract } from "./contract.ts";

export const handler = serve(contract, async ({ approval_id, decision, comment }, context) => {
  const { workspace, principal, repeat } = context;
  const approval = await readApproval(workspace, approval_id);
  if (approval === undefined) throw new ToolError("APPROVAL_NOT_FOUND", `There is no approval ${approval_id}.`);
  if (repeat?.effect !== undefined) return returns(workspace, approval);
  assertMayDecide(approval, principal);
  const decide = decision === "approve" ? approve : deny;
  const decided = { decided_by: principal.actor, decided_at: Date.now(), comment };
  const after = await decide(approval, decided, context).catch(async (error: unknown) => {
    if (error instanceof ConditionFailed) await assertStillPending(workspace, approval);
    throw error;
  });
  return returns(workspace, after);
});

type Decision = Pick<Approval, "decided_by" | "decided_at" | "comment">;

/** @throws {ToolError} SELF_APPROVAL, ALREADY_DECIDED, APPROVAL_EXPIRED */
function assertMayDecide(approval: Approval, { keyId, actor }: Principal): void {
  if (approval.key_id === keyId || samePerson(approval.actor, actor)) {
    throw new ToolError("SELF_APPROVAL", `${actor} has asked for this, so ${actor} can't decide on it.`);
  }
  assertPending(approval);
}

/** However it is written: case, width, spaces and what can't be seen tell no two people apart. */
const samePerson = (one: string, other: string) => person(one) === person(other);
const person = (actor: string) =>
  actor
    .normalize("NFKC")
    .replaceAll(/[\s\p{Default_Ignorable_Code_Point}]/gu, "")
    .toUpperCase()
    .toLowerCase();

/** @throws {ToolError} ALREADY_DECIDED, APPROVAL_EXPIRED */
function assertPending(approval: Approval): void {
  const status = approvalStatus(approval, Date.now());
  if (status === "pending") return;
  const known = { details: { status }, returns: approvalReturns(approval) };
  if (status === "expired") throw new ToolError("APPROVAL_EXPIRED", "The time for a decision is over.", known);
  throw new ToolError("ALREADY_DECIDED", `${approval.decided_by} has decided on this: it is ${status}.`, known);
}

/** What a lost race for the decision means. @throws {ToolError} ALREADY_DECIDED, APPROVAL_EXPIRED */
async function assertStillPending(workspace: string, { id }: Approval): Promise<void> {
  const now = await readApproval(workspace, id);
  if (now) assertPending(now);
}

/** If the run is cut off, `sweep` goes on with it. */
const resumeAfterMs = 60_000;

/** @throws {ConditionFailed} when it is pending no more, or a parallel repeat was first */
async function approve(approval: Approval, decided: Decision, { workspace, repeat, log }: Context): Promise<Approval> {
  const now = Date.now();
  const change = { ...decided, status: "approved" as const };
  await transact([
    transitionWrite(workspace, approval, "pending", change, now + resumeAfterMs, now),
    ...rememberWrites(repeat, approval.id),
  ]);
  return runApproved(workspace, { ...approval, ...change }, log);
}

/** @throws {ConditionFailed} when it is pending no more, or a parallel repeat was first */
async function deny(approval: Approval, decided: Decision, { workspace, repeat }: Context): Promise<Approval> {
  const input = await readHeldInput(workspace, approval);
  const remembered = rememberWrites(repeat, approval.id);
  return endApproval(workspace, approval, input, { ...decided, status: "denied" }, remembered);
}

/** What stands in the way of any tool's approved run, named as this tool's own refusal. */
const refusals: readonly string[] = ["KEY_REVOKED", "ROLE_CHANGED", "CONTRACT_CHANGED"] satisfies ErrorType[];

async function returns(workspace: string, approval: Approval) {
  const result = heldText(await readResult(workspace, approval));
  const seen = {
    ...approvalReturns(approval),
    result: Buffer.byteLength(result) > limits.contentBytes ? "" : result,
  };
  if (!refusals.includes(approval.error_type)) return seen;
  const message = "The request was approved, but can no longer be run as it was asked.";
  throw new ToolError(approval.error_type as ErrorType, message, { returns: seen });
}
