import type * as z from "zod";
import { accept, type NewMessage, textsOf } from "../_delivery/accept.ts";
import { newReports, reported, type TaskReport, taskReports } from "../_delivery/tasks.ts";
import { answerSize, assertTexts, limits } from "../_runtime/limits.ts";
import { type Context, serve } from "../_runtime/serve.ts";
import { waitFor } from "../_runtime/time.ts";
import { together } from "../_runtime/together.ts";
import type { Agent } from "../_table/agents.ts";
import {
  type Assignment,
  assignmentBodyKey,
  endLeaderWait,
  newAssignmentWrite,
  readAssignment,
} from "../_table/assignments.ts";
import { rememberWrites } from "../_table/idempotency.ts";
import { formatId, projectDigest, timePlace } from "../_table/keys.ts";
import { randomPart } from "../_table/messages.ts";
import { ensureProject } from "../_table/projects.ts";
import { takeSequence } from "../_table/sessions.ts";
import { ConditionFailed, putAll, retention, update } from "../_table/table.ts";
import { contract } from "./contract.ts";
import { type Judged, judge } from "./rules.ts";

type Input = z.output<typeof contract.input>;

export const handler = serve(contract, async (input, context) => {
  const { workspace, repeat } = context;
  if (repeat?.effect !== undefined) return stateNow(workspace, repeat.effect);
  assertTexts(input.content, []);
  for (const [index, { content }] of input.tasks.entries()) assertTexts(content, [], `tasks[${index}].content`);
  const { leader, judged } = await judge(workspace, input);
  if (!judged.some(isAccepted)) return nothingAccepted(input, leader, judged);
  const { assignment, drafts, keepFrom } = draft(context, input, leader, judged);
  // All that the transaction rests on. Should it not come to that, nobody ever finds the texts, and they expire.
  const [firstSeq] = await together([
    takeSequence(workspace, { sessionId: input.session_id, userName: input.user_name, count: drafts.length }),
    ensureProject(workspace, input.user_name, input.project_name),
    putAll([commonText(workspace, assignment, input.content, keepFrom), ...textsOf(workspace, drafts)]),
  ]);
  const messages = drafts.map((each, index) => ({ ...each, facts: { ...each.facts, seq: firstSeq + index } }));
  const extra = [newAssignmentWrite(workspace, assignment, keepFrom), ...rememberWrites(repeat, assignment.id)];
  await accept(workspace, messages, extra);
  context.log.appendKeys({ assignment_id: assignment.id });
  if (assignment.waiting_until === undefined) return answerOf(assignment, newReports(assignment));
  await waitForEnd(context, assignment);
  return stateNow(workspace, assignment.id);
});

const isAccepted = (judged: Judged): judged is Extract<Judged, { executor: Agent }> => "executor" in judged;

/** All tasks refused, or none given: done as asked, and the statuses say it. Nothing is stored. */
function nothingAccepted({ session_id, user_name, project_name }: Input, leader: Agent, judged: readonly Judged[]) {
  const tasks = judged.map((entry) => ({
    name: entry.task.name,
    executor: entry.task.executor,
    status: "rejected" as const,
    detailed: isAccepted(entry) ? "" : entry.refused,
  }));
  const msg = howMany(0, tasks.length);
  return { msg, session_id, user_name, leader: leader.name, project_name, tasks, assignment_id: "" };
}

const howMany = (accepted: number, all: number) => (accepted === all ? "" : `${accepted} of ${all} tasks accepted.`);

const defaultDeadlineS = 86_400;

/** The assignment and the messages of its accepted tasks, without their places in the session. */
function draft({ wait, origin }: Context, input: Input, leader: Agent, judged: readonly Judged[]) {
  const accepted = judged.filter(isAccepted);
  const { session_id, user_name, project_name } = input;
  const now = Date.now();
  const deadline_s = input.deadline_s ?? defaultDeadlineS;
  const deadline_at = now + deadline_s * 1000;
  const at = projectDigest(user_name, project_name);
  const random = randomPart();
  const assignmentId = formatId({ kind: "asg", at, place: timePlace(now, 0, random) });
  const taskId = (index: number) => formatId({ kind: "task", at, place: timePlace(now, index, random) });
  const drafts = accepted.map(({ task, executor }, index) => ({
    receiver: executor,
    content: task.content,
    files: [],
    facts: {
      id: taskId(index),
      kind: "task",
      session_id,
      user_name,
      sender: leader.name,
      receiver: executor.name,
      project_name,
      task_name: task.name,
      sent_at: now,
      deadline_s,
      deadline_at,
      depth: 0,
      has_files: false,
      assignment_id: assignmentId,
      ...(origin.scheduleId !== "" && { schedule_id: origin.scheduleId }),
    } satisfies Omit<NewMessage["facts"], "seq">,
  }));
  const assignment: Assignment = {
    id: assignmentId,
    session_id,
    user_name,
    leader: leader.name,
    project_name,
    created_at: now,
    open: accepted.length,
    ...(wait.until > now && { waiting_until: wait.until }),
    tasks: judged.map((entry) => ({
      name: entry.task.name,
      executor: isAccepted(entry) ? entry.executor.name : entry.task.executor,
      task_id: isAccepted(entry) ? taskId(accepted.indexOf(entry)) : "",
      refused: isAccepted(entry) ? "" : entry.refused,
    })),
  };
  return { assignment, drafts, keepFrom: deadline_at };
}

/** What the leader says to all; it is stored once and goes out with every task. */
const commonText = (workspace: string, { id }: Assignment, content: string, keepFrom: number) => ({
  ...assignmentBodyKey(workspace, id),
  content,
  ttl: retention(keepFrom),
});

/** With `Prefer: wait`: until every task has ended. When the wait is over first, the leader gets a report instead. */
async function waitForEnd({ workspace, wait }: Context, { id }: Assignment): Promise<void> {
  const look = async () => ((await readAssignment(workspace, id))?.open === 0 ? true : undefined);
  const ended = await waitFor(wait.until, look, "soon");
  if (ended) return;
  try {
    await update(endLeaderWait(workspace, id));
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error; // It ended at this very moment.
  }
}

async function stateNow(workspace: string, assignmentId: string) {
  const assignment = await readAssignment(workspace, assignmentId);
  if (assignment === undefined) throw new Error(`Assignment ${assignmentId} is not there.`);
  return answerOf(assignment, await taskReports(workspace, assignment));
}

function answerOf({ id, session_id, user_name, leader, project_name }: Assignment, full: TaskReport[]) {
  const tasks =
    answerSize(full) <= limits.answerBytes
      ? full
      : full.map((task) => ({ ...task, detailed: reported(task.detailed) }));
  const msg = howMany(full.filter(({ task_id }) => task_id !== "").length, full.length);
  return { msg, session_id, user_name, leader, project_name, tasks, assignment_id: id };
}
