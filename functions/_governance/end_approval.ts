import * as z from "zod";
import { wake } from "../_delivery/accept.ts";
import { draftNotice, type Notice } from "../_delivery/notices.ts";
import { ToolError } from "../_runtime/errors.ts";
import { type Approval, transitionWrite } from "../_table/approvals.ts";
import { transact, type Write } from "../_table/table.ts";

/** The state that each end follows. */
const stateBefore = { executed: "approved", failed: "approved", denied: "pending", expired: "pending" } as const;

/**
 * Ends an approval, and tells the agent that asked, in one transaction.
 * @param extra writes that must happen with it, for example an idempotency record
 * @returns the approval as it is then
 * @throws {ConditionFailed} when it had been decided on or ended before, or an `extra` write was refused
 */
export async function endApproval(
  workspace: string,
  approval: Approval,
  input: unknown,
  end: Partial<Approval> & { status: keyof typeof stateBefore },
  extra: readonly Write[] = [],
): Promise<Approval> {
  const now = Date.now();
  const change = { ...end, ended_at: now };
  const notice = await newsOf(workspace, approval, input);
  const ended = transitionWrite(workspace, approval, stateBefore[end.status], change, undefined, now);
  await transact([ended, ...(notice?.writes ?? []), ...extra]);
  if (notice) await wake(workspace, [notice.message]);
  return { ...approval, ...change };
}

/** The conversation in which an agent asked, if its tool has one. */
const conversation = z.object({
  session_id: z.string().min(1),
  user_name: z.string().min(1),
  project_name: z.string().default(""),
  task_name: z.string().default(""),
});

/** The news for the agent that asked: in its inbox or at its webhook, if it asked in a session. */
async function newsOf(workspace: string, { agent, id }: Approval, input: unknown): Promise<Notice | undefined> {
  const session = conversation.safeParse(input).data;
  if (agent === "" || session === undefined) return undefined;
  try {
    return await draftNotice(workspace, { ...session, kind: "reply", about: id, sender: "", receiver: agent });
  } catch (error) {
    // A session of another user: the request itself is refused for that, and there is nobody to be told in it.
    if (error instanceof ToolError) return undefined;
    throw error;
  }
}
