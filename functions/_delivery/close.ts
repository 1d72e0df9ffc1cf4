import { setTimeout as sleep } from "node:timers/promises";
import { ToolError } from "../_runtime/errors.ts";
import { count } from "../_runtime/metrics.ts";
import { readAssignment, taskEndedWrite } from "../_table/assignments.ts";
import { closeItemWrite, type InboxItem, readInboxItem } from "../_table/inbox.ts";
import { type Attempt, type ClosedState, closeHeadWrite, randomOf } from "../_table/messages.ts";
import { releaseEdge } from "../_table/sessions.ts";
import { ConditionFailed, transact, type Write } from "../_table/table.ts";
import { putReply, type Reply } from "../_table/texts.ts";
import { wake } from "./accept.ts";
import { draftNotice, type Notice } from "./notices.ts";

export interface Ending {
  status: ClosedState;
  /** Why, for people; empty for an answer. */
  reason?: string;
  /** The text that ends it: a call's reply, a task's result. */
  reply?: Omit<Reply, "refused">;
  /**
   * What must hold by the clock: answers, withdrawals and failures count before the deadline, since after it
   * the message has timed out for every reader; that a notice was told counts at any time.
   */
  when: "before deadline" | "after deadline" | "any time";
  /** Only while the receiver has not taken the message: what it has acknowledged can't fail by a delivery. */
  unlessTaken?: true;
  /** The sender of a call hears of its end by other means than a message. */
  senderKnows?: boolean;
  /** Writes that must happen with it, for example an idempotency record. */
  extra?: readonly Write[];
}

/**
 * Ends a message: its head and its inbox item in one transaction, together with what follows from it (the
 * notice to a sender that no longer waits, the assignment's count, the report of the last task); then the
 * session's wait edge is released and whoever was told is woken.
 * @returns false when it was not this that ended the message: it had ended before, the clock is against it, or
 *   an `extra` write was refused (a parallel repeat was first)
 */
export async function closeMessage(workspace: string, found: InboxItem, ending: Ending): Promise<boolean> {
  const replyId = ending.reply && (await putReply(workspace, found.id, ending.reply, found.deadline_at));
  for (let item: InboxItem | undefined = found, attempt = 1; item?.id === found.id; attempt++) {
    if (attempt > mostAttempts) throw new ToolError("UNAVAILABLE", "The message changes faster than it can be ended.");
    const now = Date.now();
    if (!isInTime(item, ending, now) || (ending.unlessTaken && isTaken(item))) return false;
    const attempted = await tryToClose(workspace, item, ending, replyId, now);
    if (attempted === "refused") return false;
    if (attempted !== "changed") {
      count("MessagesEnded", "Status", ending.status);
      await afterwards(workspace, item, attempted.notices);
      return true;
    }
    await sleep(Math.random() * Math.min(200, 5 * 2 ** attempt));
    item = await readInboxItem(workspace, found);
  }
  return false;
}

const isTaken = ({ status, accepted_at }: InboxItem) => status === "running" || accepted_at !== undefined;

const mostAttempts = 20;

/** An attempt that is under way when the message ends has no outcome of its own. */
const ended = (attempts: readonly Attempt[], now: number): Attempt[] =>
  attempts.map((made) =>
    made.ended_at === undefined ? { ...made, ended_at: now, outcome: "overtaken by the end" } : made,
  );

const isInTime = ({ deadline_at }: InboxItem, { when }: Ending, now: number) =>
  when === "any time" || (when === "before deadline" ? deadline_at > now : deadline_at <= now);

/** `changed`: the item or its assignment is no longer as it was read, look again. `refused`: an extra write was. */
async function tryToClose(
  workspace: string,
  item: InboxItem,
  ending: Ending,
  replyId: string | undefined,
  now: number,
): Promise<{ notices: Notice[] } | "changed" | "refused"> {
  const { writes, notices } = await consequences(workspace, item, ending, now);
  const own = [
    closeItemWrite(workspace, item, guard(item, ending, now)),
    closeHeadWrite(workspace, item.id, {
      status: ending.status,
      reason: ending.reason ?? "",
      attempts: ended(item.attempts, now),
      told_sender: notices.some(({ message }) => message.facts.kind === "reply"),
      ...(replyId !== undefined && { reply_id: replyId }),
    }),
    ...writes,
    ...notices.flatMap((notice) => notice.writes),
  ];
  try {
    await transact([...own, ...(ending.extra ?? [])]);
    return { notices };
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    return error.index < own.length ? "changed" : "refused";
  }
}

const waitsAt = (waitingUntil: number | undefined, now: number) => waitingUntil !== undefined && waitingUntil > now;

/** @param now the instant that decided on the consequences; the deadline is held against this very moment */
function guard(item: InboxItem, { when, unlessTaken }: Ending, now: number) {
  const waits = waitsAt(item.waiting_until, now);
  const conditions = [
    // Attempts are copied to the head, so the copy must be of what the item holds.
    "size(#attempts) = :attempts",
    waits ? "#waiting_until = :waiting" : "(attribute_not_exists(#waiting_until) OR #waiting_until <= :now)",
    ...(when === "before deadline" ? ["#deadline_at > :clock"] : []),
    ...(when === "after deadline" ? ["#deadline_at <= :clock"] : []),
    ...(unlessTaken ? ["#status = :open AND attribute_not_exists(#accepted_at)", ...sameClaim(item)] : []),
  ];
  const condition = conditions.join(" AND ");
  return {
    condition,
    values: {
      ":attempts": item.attempts.length,
      ...(condition.includes(":now") && { ":now": now }),
      ...(unlessTaken && { ":open": "open" }),
      ...(unlessTaken && item.claim !== undefined && { ":claim": item.claim }),
      ...(condition.includes(":clock") && { ":clock": Date.now() }),
      ...(waits && { ":waiting": item.waiting_until }),
    },
  };
}

/** Nobody has leased or begun to deliver it since. */
const sameClaim = ({ claim }: InboxItem) => [claim === undefined ? "attribute_not_exists(#claim)" : "#claim = :claim"];

interface Consequences {
  writes: Write[];
  notices: Notice[];
}

/** What the end of this message means for others. The end of a notice means nothing to anybody. */
async function consequences(workspace: string, item: InboxItem, ending: Ending, now: number): Promise<Consequences> {
  if (item.about !== undefined) return { writes: [], notices: [] };
  const { writes, notices } =
    item.kind === "task" ? await taskEnds(workspace, item, now) : await callEnds(workspace, item, ending, now);
  if (ending.status === "cancelled" && item.attempts.length > 0) {
    // The receiver may be at work on it: it learns that it need not be.
    notices.push(
      await draftNotice(workspace, {
        ...shared(item),
        kind: item.kind,
        about: item.id,
        sender: item.sender,
        receiver: item.receiver,
      }),
    );
  }
  return { writes, notices: notices.filter((notice) => notice !== undefined) };
}

type Drafts = { writes: Write[]; notices: (Notice | undefined)[] };

/** The end of a call goes to its sender as a message when it no longer waits, and did not end the call itself. */
async function callEnds(workspace: string, item: InboxItem, ending: Ending, now: number): Promise<Drafts> {
  const isTold = ending.senderKnows || ending.status === "cancelled" || waitsAt(item.waiting_until, now);
  if (isTold) return { writes: [], notices: [] };
  const told = {
    ...shared(item),
    kind: "reply",
    about: item.id,
    sender: item.receiver,
    receiver: item.sender,
  } as const;
  return { writes: [], notices: [await draftNotice(workspace, told)] };
}

/** The last task ends its assignment; its leader hears of it once, unless it waits for the answer. */
async function taskEnds(workspace: string, item: InboxItem, now: number): Promise<Drafts> {
  const assignment = await readAssignment(workspace, item.assignment_id ?? "");
  if (assignment === undefined) return { writes: [], notices: [] };
  const writes = [taskEndedWrite(workspace, assignment, now)];
  if (assignment.open > 1 || waitsAt(assignment.waiting_until, now)) return { writes, notices: [] };
  const { id: about, leader: receiver } = assignment;
  const report = { ...shared(item), task_name: "", kind: "report", about, sender: item.receiver, receiver } as const;
  return { writes, notices: [await draftNotice(workspace, report)] };
}

const shared = ({ session_id, user_name, project_name, task_name, assignment_id }: InboxItem) => ({
  session_id,
  user_name,
  project_name,
  task_name,
  ...(assignment_id !== undefined && { assignment_id }),
});

/** The end is stored by now: what fails here is repaired by the clock (edges) or by `sweep` (wake-ups). */
async function afterwards(workspace: string, item: InboxItem, notices: readonly Notice[]): Promise<void> {
  const { waiting_until: until, session_id, sender, receiver, id } = item;
  if (until !== undefined) {
    await releaseEdge(workspace, session_id, sender, { receiver, until, random: randomOf(id) });
  }
  await wake(
    workspace,
    notices.map(({ message }) => message),
  );
}
