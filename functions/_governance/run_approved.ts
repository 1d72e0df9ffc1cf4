import * as z from "zod";
import type { DirectEvent } from "../_runtime/direct_event.ts";
import type { ErrorType } from "../_runtime/errors.ts";
import { invokeTool } from "../_runtime/invoke_tool.ts";
import type { Log } from "../_runtime/log.ts";
import type { GatewayAnswer } from "../_runtime/request.ts";
import { type Approval, putResult, readApproval, readHeldInput } from "../_table/approvals.ts";
import { hasEffect } from "../_table/idempotency.ts";
import { idempotency } from "../_table/keys.ts";
import { ConditionFailed } from "../_table/table.ts";
import { approvedRunKey } from "./approval_gate.ts";
import { endApproval } from "./end_approval.ts";

/** How long an approved request that can't run (the tool is overloaded) is tried again; less than its effect is remembered. */
const triedMs = 20 * 3_600_000;

const failed = z.object({ error: z.object({ type: z.string(), retryable: z.boolean() }) });

/**
 * Runs an approved request as its caller, and records what came of it. It may be called again at any time: the tool
 * finds its own effect under the approval's key, so it acts once; of two answers the first is recorded.
 * @returns the approval as it is then; still `approved` when the tool could not run for now, and `sweep` tries again
 */
export async function runApproved(workspace: string, approval: Approval, log: Log): Promise<Approval> {
  const { id, tool } = approval;
  const input = (await readHeldInput(workspace, approval)) as Record<string, unknown>;
  const answer = await invokeTool(tool, { direct: directOf(workspace, approval, input) }).catch((error: unknown) => {
    log.error("approved request did not run", { approval_id: id, error: error as Error });
    return undefined;
  });
  const final = finalOf(answer, approval);
  if (final === undefined) return approval;
  const body = JSON.parse(final.body) as Record<string, unknown>;
  const error_type = failed.safeParse(body).data?.error.type ?? "";
  const end =
    saysNothingRan.includes(error_type) && (await hasRun(workspace, approval))
      ? ({ status: "executed", http_status: 200 } as const)
      : ({
          status: error_type === "" ? "executed" : "failed",
          http_status: final.statusCode,
          error_type,
          result_id: await putResult(workspace, approval, body),
        } as const);
  try {
    return await endApproval(workspace, approval, input, end);
  } catch (error) {
    // The decision and a sweep may both have run it: the first to end it has told what came of it.
    if (!(error instanceof ConditionFailed)) throw error;
    return (await readApproval(workspace, id)) ?? approval;
  }
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

/** The request as its caller made it, under a key of its own: however often this is sent, the tool acts once. */
const directOf = (workspace: string, approval: Approval, input: Record<string, unknown>): DirectEvent["direct"] => ({
  via: "approval",
  id: approval.id,
  ...(approval.schedule_id !== "" && { scheduleId: approval.schedule_id }),
  workspace,
  keyId: approval.key_id,
  version: approval.tool_version,
  role: approval.role,
  requestId: approval.id,
  idempotencyKey: approvedRunKey(approval.id),
  input,
});

/** What the tool answered for good; undefined while the same request may still succeed later. */
function finalOf(answer: GatewayAnswer | undefined, { decided_at = 0 }: Approval): GatewayAnswer | undefined {
  if (answer !== undefined && !isPassing(answer)) return answer;
  return Date.now() > decided_at + triedMs ? (answer ?? unavailable) : undefined;
}

const isPassing = ({ body }: GatewayAnswer) => failed.safeParse(JSON.parse(body)).data?.error.retryable === true;

/** Instead of an answer, when the tool never gave one. */
const unavailable: GatewayAnswer = {
  statusCode: 503,
  headers: {},
  body: JSON.stringify({ error: { type: "UNAVAILABLE", retryable: false, message: "The tool could not be run." } }),
};
