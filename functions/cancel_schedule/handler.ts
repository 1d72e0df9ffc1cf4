import { ToolError } from "../_runtime/errors.ts";
import type { Log } from "../_runtime/log.ts";
import { serve } from "../_runtime/serve.ts";
import { completeCancellation } from "../_schedules/lifecycle.ts";
import { returnsOf, statusOf } from "../_schedules/returns.ts";
import { effectOfWinner, rememberWrites } from "../_table/idempotency.ts";
import { fold } from "../_table/keys.ts";
import { changeScheduleWrite, readSchedule, type Schedule } from "../_table/schedules.ts";
import { ConditionFailed, transact } from "../_table/table.ts";
import { contract } from "./contract.ts";

const mostAttempts = 20;

export const handler = serve(contract, async ({ schedule_id, leader, reason }, { workspace, repeat, log }) => {
  for (let attempt = 1; attempt <= mostAttempts; attempt++) {
    const found = await readSchedule(workspace, schedule_id);
    if (found === undefined || fold(found.leader) !== fold(leader))
      throw new ToolError("SCHEDULE_NOT_FOUND", `${leader} has made no such schedule.`);
    const status = statusOf(found, Date.now());
    // Cancelling what is cancelled changes nothing, so a repeat is no error.
    if (status === "cancelled") {
      await effectOfWinner(repeat); // Another input under the same key may have been first.
      await complete(workspace, found, log);
      return returnsOf(found);
    }
    if (status === "ended")
      throw new ToolError("SCHEDULE_CLOSED", "The schedule has ended already: no run is left.", {
        returns: returnsOf(found),
      });
    const cancelled: Schedule = { ...found, status: "cancelling", reason, revision: found.revision + 1 };
    const extra = rememberWrites(repeat, found.id);
    try {
      await transact([{ Update: changeScheduleWrite(workspace, found, { status: "cancelling", reason }) }, ...extra]);
    } catch (error) {
      if (!(error instanceof ConditionFailed) || error.index > 0) throw error;
      continue; // A run was recorded at this very moment.
    }
    await complete(workspace, cancelled, log);
    return returnsOf(cancelled);
  }
  throw new ToolError("UNAVAILABLE", "The schedule changes faster than it can be cancelled.");
});

/** The schedule is cancelled by now: what fails in passing here, `sweep` does later. */
async function complete(workspace: string, cancelled: Schedule, log: Log): Promise<void> {
  if (cancelled.status !== "cancelling") return;
  await completeCancellation(workspace, cancelled).catch((error: Error) =>
    log.error("the trigger is not gone yet; sweep removes it", error),
  );
}
