import type { Approval } from "../functions/_table/approvals.ts";

/**
 * Holds a request back as if an operator had raised approval for its tool, asked for by somebody else's key. For tests
 * of a system that has not raised any. Answers the approval's id.
 */
export async function holdRequest(
  tool: string,
  input: object,
  change: Partial<Approval> = {},
  workspace = "local",
): Promise<string> {
  // Loaded only now, when the system has set the environment.
  const { newApprovalId, newApprovalWrite, putHeldInput } = await import("../functions/_table/approvals.ts");
  const { transact } = await import("../functions/_table/table.ts");
  const now = Date.now();
  const approval: Approval = {
    id: newApprovalId(now),
    status: "pending",
    tool,
    tool_version: "1.0.0",
    risk_level: "low",
    side_effect: "internal",
    key_id: "asker",
    actor: "asker@example.com",
    agent: "",
    role: "",
    schedule_id: "",
    requested_at: now,
    expires_at: now + 30 * 86_400_000,
    decided_by: "",
    comment: "",
    error_type: "",
    ...change,
  };
  await putHeldInput(workspace, approval, input);
  await transact([newApprovalWrite(workspace, approval)]);
  return approval.id;
}
