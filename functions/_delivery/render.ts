import { clipped } from "../_runtime/clipped.ts";
import type { Message } from "../_runtime/message_schema.ts";
import { approvalRef, assignmentRef, callRef, taskRef } from "../_runtime/source_refs.ts";
import { iso } from "../_runtime/time.ts";
import { isApprovalId, readApproval, readResult } from "../_table/approvals.ts";
import { assignmentBodyKey, readAssignment } from "../_table/assignments.ts";
import type { InboxItem } from "../_table/inbox.ts";
import type { Key } from "../_table/keys.ts";
import { readHead } from "../_table/messages.ts";
import { get, getEachNamed, getNamed, type Item } from "../_table/table.ts";
import { bodyKey, parseBody, parseReply, replyKey } from "../_table/texts.ts";
import { reported, taskReports } from "./tasks.ts";
import { contextKeys, readContext } from "./work_context.ts";

/** A message on its way out. */
interface Delivery {
  item: InboxItem;
  /** Which delivery of the message this is, from 1. */
  attempt: number;
}

/** A message as its receiver gets it. */
export async function renderMessage(workspace: string, delivery: Delivery): Promise<Message> {
  return render(workspace, delivery, await getNamed(partKeys(workspace, delivery.item)));
}

/** Several at once, at most ten: the parts of all calls and tasks in one request; each notice reads what it is about. */
export async function renderMessages(workspace: string, deliveries: readonly Delivery[]): Promise<Message[]> {
  const found = await getEachNamed(deliveries.map(({ item }) => partKeys(workspace, item)));
  return Promise.all(deliveries.map((delivery, index) => render(workspace, delivery, found[index] ?? {})));
}

async function render(workspace: string, { item, attempt }: Delivery, found: Parts): Promise<Message> {
  const content = item.about === undefined ? request(item, found) : await notice(workspace, item, item.about);
  return { ...frame(item, attempt), ...content };
}

/** What every message says of itself, and nothing yet of what it is about. */
function frame(item: InboxItem, attempt: number): Message {
  return {
    message_id: item.id,
    kind: item.kind,
    call_id: "",
    assignment_id: item.assignment_id ?? "",
    task_id: "",
    session_id: item.session_id,
    user_name: item.user_name,
    sender: item.sender,
    receiver: item.receiver,
    project_name: item.project_name,
    task_name: item.task_name,
    project_root_dir: "",
    type: "text",
    content: "",
    files: [],
    result_files: [],
    status: "",
    detailed: "",
    tasks: [],
    attempt,
    sent_at: iso(item.sent_at),
    deadline_at: iso(item.deadline_at),
    source_ref: "",
  };
}

/** Of a call or a task: its own texts, what the leader says to all, what its project says. */
type Part = "body" | "common" | "files" | "project";
type Parts = Partial<Record<Part, Item>>;

/** Where the parts are; a notice has none. */
function partKeys(workspace: string, item: InboxItem): Partial<Record<Part, Key>> {
  if (item.about !== undefined) return {};
  const assignmentId = item.kind === "task" ? item.assignment_id : undefined;
  return {
    body: bodyKey(workspace, item.id),
    ...(assignmentId !== undefined && { common: assignmentBodyKey(workspace, assignmentId) }),
    ...contextKeys(workspace, item),
  };
}

function request(item: InboxItem, found: Parts): Partial<Message> {
  // What the leader says to all goes with every task (seed 001: the top-level `content`).
  const content = [found.common, found.body]
    .map(parseBody)
    .filter((text) => text !== "")
    .join("\n\n");
  const id =
    item.kind === "task"
      ? { task_id: item.id, source_ref: taskRef(item.id) }
      : { call_id: item.id, source_ref: callRef(item.id) };
  return { ...id, content, ...readContext(item, found) };
}

async function notice(workspace: string, item: InboxItem, about: string): Promise<Partial<Message>> {
  switch (item.kind) {
    case "report":
      return report(workspace, about);
    case "reply":
      return isApprovalId(about) ? approvalEnd(workspace, about) : lateAnswer(workspace, about);
    case "call":
      return { call_id: about, ...(await withdrawal(workspace, about, "call")), source_ref: callRef(about) };
    case "task":
      return { task_id: about, ...(await withdrawal(workspace, about, "task")), source_ref: taskRef(about) };
  }
}

async function report(workspace: string, assignmentId: string): Promise<Partial<Message>> {
  const assignment = await readAssignment(workspace, assignmentId);
  const tasks = assignment === undefined ? [] : await taskReports(workspace, assignment);
  return {
    assignment_id: assignmentId,
    status: "ended",
    tasks: tasks.map(({ task_id, name, status, detailed }) => ({
      task_id,
      name,
      status,
      detailed: reported(detailed),
    })),
    source_ref: assignmentRef(assignmentId),
  };
}

/** What came of a request that a person had to approve: the tool's answer as JSON. */
async function approvalEnd(workspace: string, id: string): Promise<Partial<Message>> {
  const approval = await readApproval(workspace, id);
  const result = approval && (await readResult(workspace, approval));
  const { status = "", tool = "", comment = "" } = approval ?? {};
  return {
    type: "json",
    content: result === undefined ? "" : clipped(JSON.stringify(result), 16_000, "repeat the request to get all of it"),
    status,
    detailed: [`${tool} ${status}`, comment].filter((part) => part !== "").join(": "),
    source_ref: approvalRef(id),
  };
}

async function lateAnswer(workspace: string, callId: string): Promise<Partial<Message>> {
  const head = await readHead(workspace, callId, "call");
  const reply =
    head?.reply_id === undefined ? undefined : parseReply(await get(replyKey(workspace, callId, head.reply_id)));
  return {
    call_id: callId,
    status: head?.status ?? "",
    detailed: head?.reason ?? "",
    source_ref: callRef(callId),
    ...(reply && { type: reply.type, content: reply.content, result_files: reply.files }),
  };
}

async function withdrawal(workspace: string, about: string, kind: "call" | "task"): Promise<Partial<Message>> {
  const head = await readHead(workspace, about, kind);
  return { status: "cancelled", detailed: head?.reason ?? "" };
}
