import { iso } from "../_runtime/time.ts";
import { readHead } from "../_table/messages.ts";
import { detailOf, readReplies, taskState } from "./tasks.ts";

/** A task as `update_task` and `cancel_task` answer it: as it is now. The task is known to exist. */
export async function taskReturns(workspace: string, taskId: string) {
  const now = Date.now(); // From before the head is read, as for a call's answer.
  const head = await readHead(workspace, taskId, "task");
  if (head === undefined) throw new Error(`Task ${taskId} has no head.`);
  const [reply] = await readReplies(workspace, [head]);
  return {
    task_id: head.id,
    assignment_id: head.assignment_id ?? "",
    session_id: head.session_id,
    user_name: head.user_name,
    leader: head.sender,
    project_name: head.project_name,
    task_name: head.task_name,
    executor: head.receiver,
    status: taskState(head, now),
    detailed: detailOf(head, reply),
    files: reply?.files ?? [],
    deadline_at: iso(head.deadline_at),
  };
}
