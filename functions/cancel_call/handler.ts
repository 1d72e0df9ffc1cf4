import { closeMessage } from "../_delivery/close.ts";
import { ToolError } from "../_runtime/errors.ts";
import { assertBytes, limits } from "../_runtime/limits.ts";
import { serve } from "../_runtime/serve.ts";
import { rememberWrites } from "../_table/idempotency.ts";
import { readInboxItem } from "../_table/inbox.ts";
import { fold } from "../_table/keys.ts";
import { type Head, isOpen, readHead, statusNow } from "../_table/messages.ts";
import { contract } from "./contract.ts";

export const handler = serve(contract, async ({ call_id, sender, reason }, { workspace, repeat }) => {
  assertBytes("reason", reason, limits.contentBytes);
  const head = await readHead(workspace, call_id, "call");
  if (head === undefined || fold(head.sender) !== fold(sender) || head.about !== undefined) {
    throw new ToolError("CALL_NOT_FOUND", `There is no such call from ${sender}.`);
  }
  if (
    repeat?.effect === undefined &&
    head.status !== "cancelled" &&
    !(await withdraw(workspace, head, reason, repeat))
  ) {
    throw await closed(workspace, call_id);
  }
  const after = await readHead(workspace, call_id, "call");
  return returns(after ?? head);
});

async function withdraw(
  workspace: string,
  head: Head,
  reason: string,
  repeat: Parameters<typeof rememberWrites>[0],
): Promise<boolean> {
  const item = isOpen(head) ? await readInboxItem(workspace, head) : undefined;
  if (item === undefined) return false;
  const extra = rememberWrites(repeat, head.id);
  return closeMessage(workspace, item, { status: "cancelled", reason, when: "before deadline", extra });
}

async function closed(workspace: string, callId: string): Promise<ToolError> {
  const head = await readHead(workspace, callId, "call");
  const status = head === undefined ? "gone" : statusNow(head, Date.now());
  return new ToolError("CALL_CLOSED", `The call has ended already: ${status}.`, {
    hint: "Read its outcome with get_call.",
    details: { status },
    ...(head && { returns: returns(head) }),
  });
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
