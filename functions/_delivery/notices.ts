import { readAgent } from "../_table/agents.ts";
import { type Facts, sessionMessageId } from "../_table/messages.ts";
import { takeSequence } from "../_table/sessions.ts";
import type { Write } from "../_table/table.ts";
import { type NewMessage, newMessageWrites } from "./accept.ts";

/** How long (s) a notice is tried. One that can't be delivered is dropped and never makes another notice. */
const noticeDeadlineS = 86_400;

export interface Notice {
  message: NewMessage;
  writes: Write[];
}

/**
 * Prepares a message that tells `receiver` something: a late reply, a report, a withdrawal. Undefined when
 * that agent is no longer registered: then nobody is there to be told.
 */
export async function draftNotice(
  workspace: string,
  notice: Pick<
    Facts,
    "kind" | "sender" | "receiver" | "session_id" | "user_name" | "project_name" | "task_name" | "assignment_id"
  > & {
    about: string;
  },
): Promise<Notice | undefined> {
  const receiver = await readAgent(workspace, notice.receiver);
  if (receiver === undefined) return undefined;
  const { session_id, user_name } = notice;
  const seq = await takeSequence(workspace, { sessionId: session_id, userName: user_name, count: 1 });
  const now = Date.now();
  const message: NewMessage = {
    receiver,
    facts: {
      ...notice,
      id: sessionMessageId("note", session_id, seq),
      seq,
      sent_at: now,
      deadline_at: now + noticeDeadlineS * 1000,
      deadline_s: noticeDeadlineS,
      depth: 0,
      has_files: false,
    },
  };
  return { message, writes: newMessageWrites(workspace, message) };
}
