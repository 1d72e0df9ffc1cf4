import { approvalRef } from "../_runtime/source_refs.ts";
import { iso } from "../_runtime/time.ts";
import { type Approval, approvalStatus } from "../_table/approvals.ts";

/** An approval as the tools answer it (`approvalShape`), without what is held. */
export const approvalReturns = (approval: Approval) => ({
  approval_id: approval.id,
  status: approvalStatus(approval, Date.now()),
  tool: approval.tool,
  tool_version: approval.tool_version,
  risk_level: approval.risk_level,
  side_effect: approval.side_effect,
  key_id: approval.key_id,
  actor: approval.actor,
  agent_name: approval.agent,
  requested_at: iso(approval.requested_at),
  expires_at: iso(approval.expires_at),
  decided_by: approval.decided_by,
  decided_at: iso(approval.decided_at),
  comment: approval.comment,
  http_status: approval.http_status ?? 0,
  error_type: approval.error_type,
  source_ref: approvalRef(approval.id),
});

/** What is held, or what the tool answered, as JSON text; empty when there is none (yet). */
export const heldText = (held: unknown) => (held === undefined ? "" : JSON.stringify(held));
