import {
  changeSchedule,
  changeScheduleWrite,
  isCancelled,
  readSchedule,
  removeInputWrite,
  type Schedule,
} from "../_table/schedules.ts";
import { ConditionFailed, transact } from "../_table/table.ts";
import { createTrigger, deleteTrigger } from "./trigger.ts";

/*
 * The table's record comes first and its trigger follows: while one is on its way the record is `creating` or
 * `cancelling`, and `sweep` does what a crash or an outage left undone. Each step may be done twice.
 */

/** Gives a new schedule its trigger. @throws {TriggerRefused} the schedule is as it was then */
export async function completeCreation(workspace: string, made: Schedule): Promise<void> {
  await createTrigger(workspace, made);
  for (let found: Schedule | undefined = made; ; found = await readSchedule(workspace, made.id)) {
    // Cancelled meanwhile: then its trigger may have been removed before it was there.
    if (found === undefined || isCancelled(found)) return deleteTrigger(workspace, made.id);
    if (found.status === "active") return;
    // A first run may have changed the record since it was read.
    if (await changeSchedule(workspace, found, { status: "active" })) return;
  }
}

/** Takes a cancelled schedule's trigger away. Nothing runs any more since the record says `cancelling`. */
export async function completeCancellation(workspace: string, cancelled: Schedule): Promise<void> {
  await deleteTrigger(workspace, cancelled.id);
  for (let found: Schedule | undefined = cancelled; found?.status === "cancelling"; ) {
    try {
      const done = changeScheduleWrite(workspace, found, { status: "cancelled" });
      await transact([{ Update: done }, removeInputWrite(workspace, found.id)]);
      return;
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
      found = await readSchedule(workspace, cancelled.id);
    }
  }
}
