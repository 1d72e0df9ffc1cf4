import { mustExist } from "../_delivery/agents.ts";
import { ToolError } from "../_runtime/errors.ts";
import { serve } from "../_runtime/serve.ts";
import { returnsOf } from "../_schedules/returns.ts";
import { readAgent } from "../_table/agents.ts";
import { fold, isScheduleId } from "../_table/keys.ts";
import { listSchedules, type Schedule } from "../_table/schedules.ts";
import { contract } from "./contract.ts";

/** A filter is applied to what was read, so one request reads at most this many pages before it hands out a cursor. */
const pagesPerRequest = 5;
const pageSize = 50;

export const handler = serve(contract, async (input, { workspace }) => {
  const { cursor, limit } = input;
  if (cursor !== "" && !isScheduleId(cursor))
    throw new ToolError("INVALID_CURSOR", "The cursor is not one that list_schedules gave out.");
  const now = Date.now();
  const fits = ({ leader, user_name }: Schedule) =>
    (input.leader === "" || fold(leader) === fold(input.leader)) &&
    (input.user_name === "" || user_name === input.user_name);
  const shown: ReturnType<typeof returnsOf>[] = [];
  let after = cursor;
  for (let page = 0; page < pagesPerRequest; page++) {
    const { schedules, more } = await listSchedules(workspace, pageSize, after);
    for (const schedule of schedules) {
      if (shown.length === limit) return { schedules: shown, next_cursor: after };
      after = schedule.id;
      const found = fits(schedule) ? returnsOf(schedule, now) : undefined;
      if (found && (input.all || found.status === "active")) shown.push(found);
    }
    if (!more) {
      if (shown.length === 0) await assertKnown(workspace, input.leader);
      return { schedules: shown, next_cursor: "" };
    }
  }
  return { schedules: shown, next_cursor: after };
});

/** A leader who is gone may have left schedules; of one who never was there are none. @throws {ToolError} LEADER_NOT_FOUND */
async function assertKnown(workspace: string, leader: string): Promise<void> {
  if (leader !== "") await mustExist(workspace, await readAgent(workspace, leader), leader, "LEADER_NOT_FOUND");
}
