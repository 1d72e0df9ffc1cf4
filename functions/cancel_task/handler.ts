import { closeMessage } from "../_delivery/close.ts";
import { taskReturns } from "../_delivery/task_returns.ts";
import { ToolError } from "../_runtime/errors.ts";
import { serve } from "../_runtime/serve.ts";
import { effectOfWinner, rememberWrites } from "../_table/idempotency.ts";
import { readInboxItem } from "../_table/inbox.ts";
import { fold } from "../_table/keys.ts";
import { isOpen, readHead } from "../_table/messages.ts";
import { contract } from "./contract.ts";

export const handler = serve(contract, async ({ task_id, leader, reason }, { workspace, repeat }) => {
  const head = await readHead(workspace, task_id, "task");
  if (head === undefined || fold(head.sender) !== fold(leader))
    throw new ToolError("TASK_NOT_FOUND", `${leader} has assigned no such task.`);
  const item = isOpen(head) ? await readInboxItem(workspace, head) : undefined;
  const extra = rememberWrites(repeat, head.id);
  const withdrawn =
    repeat?.effect === undefined &&
    item?.id === head.id &&
    (await closeMessage(workspace, item, { status: "cancelled", reason, when: "before deadline", extra }));
  if (!withdrawn) await effectOfWinner(repeat); // Another input under the same key may have been first.
  const after = await taskReturns(workspace, head.id);
  // Withdrawing what is withdrawn changes nothing, so a repeat is no error.
  if (withdrawn || after.status === "cancelled") return after;
  throw new ToolError("TASK_CLOSED", `The task has ended already: ${after.status}.`, {
    details: { status: after.status },
    returns: after,
  });
});
