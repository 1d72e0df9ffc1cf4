import { callState } from "../_delivery/calls.ts";
import { closeMessage } from "../_delivery/close.ts";
import { ToolError } from "../_runtime/errors.ts";
import { serve } from "../_runtime/serve.ts";
import { effectOfWinner, rememberWrites } from "../_table/idempotency.ts";
import { readInboxItem } from "../_table/inbox.ts";
import { fold } from "../_table/keys.ts";
import { type Head, isOpen, readHead } from "../_table/messages.ts";
import { contract } from "./contract.ts";

export const handler = serve(contract, async ({ call_id, sender, reason }, { workspace, repeat }) => {
  const head = await readHead(workspace, call_id, "call");
  if (head === undefined || fold(head.sender) !== fold(sender)) {
    throw new ToolError("CALL_NOT_FOUND", `There is no such call from ${sender}.`);
  }
  const withdrawn = repeat?.effect === undefined && (await withdraw(workspace, head, reason, repeat));
  if (!withdrawn) await effectOfWinner(repeat); // Another input under the same key may have been first.
  const after = (await readHead(workspace, call_id, "call")) ?? head;
  // Withdrawing what is withdrawn changes nothing, so neither a repeat nor a second one at once is an error.
  if (after.status === "cancelled") return returns(after);
  const status = callState(after, true, Date.now());
  throw new ToolError("CALL_CLOSED", `The call has ended already: ${status}.`, {
    hint: "Read its outcome with get_call.",
    details: { status },
    returns: { ...returns(after), status },
  });
});

async function withdraw(
  workspace: string,
  head: Head,
  reason: string,
  repeat: Parameters<typeof rememberWrites>[0],
): Promise<boolean> {
  const item = isOpen(head) ? await readInboxItem(workspace, head) : undefined;
  if (item?.id !== head.id) return false;
  const extra = rememberWrites(repeat, head.id);
  return closeMessage(workspace, item, { status: "cancelled", reason, when: "before deadline", extra });
}

const returns = (head: Head) => ({
  call_id: head.id,
  session_id: head.session_id,
  user_name: head.user_name,
  sender: head.sender,
  receiver: head.receiver,
  project_name: head.project_name,
  task_name: head.task_name,
  status: "cancelled" as const,
  reason: head.reason,
});
