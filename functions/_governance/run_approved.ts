import * as z from "zod";
import { wake } from "../_delivery/accept.ts";
import { draftNotice, type Notice } from "../_delivery/notices.ts";
import { type ErrorType, ToolError } from "../_runtime/errors.ts";
import { invokeTool } from "../_runtime/invoke_tool.ts";
import type { Log } from "../_runtime/log.ts";
import type { GatewayAnswer } from "../_runtime/request.ts";
import { type Approval, putResult, readApproval, readHeldInput, transitionWrite } from "../_table/approvals.ts";
import { hasEffect } from "../_table/idempotency.ts";
import { idempotency } from "../_table/keys.ts";
import { ConditionFailed, transact, type Write } from "../_table/table.ts";
import { approvedRunKey } from "./approval_gate.ts";

/** How long an approved request that can't run (the tool is overloaded) is tried again; less than its effect is remembered. */
const triedMs = 20 * 3_600_000;

const failed = z.object({ error: z.object({ type: z.string(), retryable: z.boolean() }) });

/**
 * Runs an approved request as its caller, and records what came of it. It may be called again at any time: the tool
 * finds its own effect under the approval's key, so it acts once; of two answers the first is recorded.
 * @returns the approval as it is then; still `approved` when the tool could not run for now, and `sweep` tries again
 */
export async function runApproved(workspace: string, approval: Approval, log: Log): Promise<Approval> {
  const { id, tool, tool_version: version, key_id: keyId, role, schedule_id } = approval;
  const input = (await readHeldInput(workspace, approval)) as Record<string, unknown>;
  const idempotencyKey = approvedRunKey(id);
  const asked = { id, workspace, keyId, version, role, input, ...(schedule_id !== "" && { scheduleId: schedule_id }) };
  const direct = { via: "approval" as const, ...asked, requestId: id, idempotencyKey };
  const answer = await invokeTool(tool, { direct }).catch((error: unknown) => {
    log.error("approved request did not run", { approval_id: id, error: error as Error });
    return undefined;
  });
  const isLate = Date.now() > (approval.decided_at ?? 0) + triedMs;
  const final = answer !== undefined && !isPassing(answer) ? answer : isLate ? gaveUp(answer) : undefined;
  if (final === undefined) return approval;
  const body = JSON.parse(final.body) as Record<string, unknown>;
  const error_type = failed.safeParse(body).data?.error.type ?? "";
  if (saysNothingRan.includes(error_type) && (await hasRun(workspace, approval))) {
    return endApproval(workspace, approval, input, { status: "executed", http_status: 200 });
  }
  return endApproval(workspace, approval, input, {
    status: error_type === "" ? "executed" : "failed",
    http_status: final.statusCode,
    error_type,
    result_id: await putResult(workspace, approval, body),
  });
}

/** What an answer may say though an earlier run, cut off before its own answer was kept, has acted. */
const saysNothingRan: readonly string[] = [
  "KEY_REVOKED",
  "PERMISSION_DENIED",
  "IDENTITY_MISMATCH",
  "CONTRACT_CHANGED",
  "ROLE_CHANGED",
  "INVALID_INPUT",
  "UNAVAILABLE",
  "INTERNAL",
] satisfies ErrorType[];

/**
 * A run that was cut off before its answer was kept may be refused when it is tried again (its own effect changed the
 * agent's role; the key was revoked since), but what it did is done.
 */
const hasRun = (workspace: string, { id, key_id, tool, agent }: Approval) =>
  hasEffect(idempotency(workspace, key_id, tool, agent, approvedRunKey(id)));

/** The same request may succeed later. */
const isPassing = ({ body }: GatewayAnswer) => failed.safeParse(JSON.parse(body)).data?.error.retryable === true;

const gaveUp = (last: GatewayAnswer | undefined): GatewayAnswer =>
  last ?? {
    statusCode: 503,
    headers: {},
    body: JSON.stringify({ error: { type: "UNAVAILABLE", retryable: false, message: "The tool could not be run." } }),
  };

/** Where an approval comes from when it ends so. */
const before = { executed: "approved", failed: "approved", denied: "pending", expired: "pending" } as const;

/**
 * Ends an approval, and tells the agent that asked, in one transaction. When somebody else ended it first, that holds.
 * @returns the approval as it is then
 */
export async function endApproval(
  workspace: string,
  approval: Approval,
  input: unknown,
  end: Partial<Approval> & { status: keyof typeof before },
  extra: readonly Write[] = [],
): Promise<Approval> {
  const now = Date.now();
  const change = { ...end, ended_at: now };
  const notice = await tellAgent(workspace, approval, input);
  const ended = transitionWrite(workspace, approval, before[end.status], change, undefined, now);
  try {
    await transact([ended, ...(notice?.writes ?? []), ...extra]);
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    return (await readApproval(workspace, approval.id)) ?? approval;
  }
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
async function tellAgent(workspace: string, { agent, id }: Approval, input: unknown): Promise<Notice | undefined> {
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
