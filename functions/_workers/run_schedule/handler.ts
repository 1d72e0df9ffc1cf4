import * as z from "zod";
import { logFor } from "../../_runtime/log.ts";
import { fire } from "../../_schedules/firing.ts";

/** What a trigger hands over (`_schedules/trigger.ts`); EventBridge Scheduler has filled in the time. */
const firing = z.strictObject({
  workspace: z.string().min(1),
  schedule_id: z.string().min(1),
  scheduled_time: z.iso.datetime({ offset: true }),
});

/**
 * Runs a schedule for one firing of its trigger. What can't be helped is recorded with the run; it throws only for
 * trouble that may pass, so that the firing is delivered again.
 */
export async function handler(event: unknown): Promise<void> {
  const { workspace, schedule_id, scheduled_time } = firing.parse(event);
  const log = logFor({ worker: "run_schedule", workspace, schedule_id, scheduled_time });
  await fire(workspace, schedule_id, Date.parse(scheduled_time), log);
}
