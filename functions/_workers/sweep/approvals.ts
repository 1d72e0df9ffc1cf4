import { PublishCommand } from "@aws-sdk/client-sns";
import { endApproval } from "../../_governance/end_approval.ts";
import { runApproved } from "../../_governance/run_approved.ts";
import { sns } from "../../_runtime/clients.ts";
import { env } from "../../_runtime/env.ts";
import type { Log } from "../../_runtime/log.ts";
import { iso } from "../../_runtime/time.ts";
import {
  type Approval,
  approvalStatus,
  dueApprovals,
  readApproval,
  readHeldInput,
  transitionWrite,
} from "../../_table/approvals.ts";
import { ConditionFailed, transact } from "../../_table/table.ts";

/** An approved request that could not run is tried again so often. */
const tryAgainMs = 60_000;

/**
 * Moves approvals on: tells the operators of new ones, ends those that nobody decided on in time, and runs what was
 * approved but cut off before it had run. All its writes are conditional, so it may race with anything.
 * @returns how many it looked at
 */
export async function sweepApprovals(untilMs: number, log: Log): Promise<number> {
  let looked = 0;
  for await (const { workspace, record } of dueApprovals(untilMs)) {
    await look(workspace, record.id, log).catch((error: Error) => {
      // Decided or ended since: whoever did that has said when to look again.
      if (error instanceof ConditionFailed) return;
      log.error("could not move an approval on; the next sweep does", { error, approval_id: record.id });
    });
    looked += 1;
  }
  return looked;
}

async function look(workspace: string, id: string, log: Log): Promise<void> {
  const approval = await readApproval(workspace, id);
  if (approval === undefined) return;
  const status = approvalStatus(approval, Date.now());
  if (status === "expired" && approval.status === "pending") {
    const input = await readHeldInput(workspace, approval);
    await endApproval(workspace, approval, input, { status });
  } else if (status === "approved") {
    const after = await runApproved(workspace, approval, log);
    if (after.status === "approved") await lookAgain(workspace, approval, { status }, Date.now() + tryAgainMs);
  } else if (status === "pending") {
    if (approval.notified_at === undefined) await notify(workspace, approval);
    await lookAgain(workspace, approval, { status, notified_at: Date.now() }, approval.expires_at);
  }
}

const lookAgain = (
  workspace: string,
  approval: Approval,
  change: Partial<Approval> & Pick<Approval, "status">,
  dueAt: number,
) => transact([transitionWrite(workspace, approval, change.status, change, dueAt, Date.now())]);

/** The notice says that there is something to decide and where; what it is about, only the tool shows. */
async function notify(workspace: string, approval: Approval): Promise<void> {
  const { APPROVALS_TOPIC_ARN: TopicArn, STAGE } = env();
  if (TopicArn === undefined) return;
  const { id, tool, risk_level, side_effect, agent, actor, expires_at } = approval;
  const Message = [
    `${actor}${agent === "" ? "" : ` (agent ${agent})`} asks to run ${tool}. Risk: ${risk_level}; side effect: ${side_effect}.`,
    `Workspace: ${workspace}. Stage: ${STAGE}. A decision counts until ${iso(expires_at)}.`,
    "",
    `See what would run:  npm run approvals -- show ${id}`,
    `Decide:              npm run approvals -- approve ${id}   (or deny)`,
  ].join("\n");
  await sns.send(new PublishCommand({ TopicArn, Subject: `Switchboard: ${tool} waits for approval`, Message }));
}
