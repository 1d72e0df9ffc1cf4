import type { Facts } from "../../functions/_table/messages.ts";
import type { Item, Write } from "../../functions/_table/table.ts";

/** What history is added to. */
export interface History {
  session_id: string;
  project_name: string;
  /** Sender of the calls and leader of the tasks. */
  sender: string;
  /** Receiver of the calls and executor of the tasks. */
  receiver: string;
  /** A call of this session. */
  call_id: string;
  /** Instant (ms) at which an hour begins: that of the audit events. */
  audit_hour: number;
}

const workspace = "local";
const content = "What we do, and for whom.";

/** How many of each kind there are, by session. */
const added = new Map<string, number>();

/**
 * Adds calls to the session, tasks to the project, agents to the workspace and events to an hour of its audit trail,
 * until there are `items` of each. All calls and tasks have ended. They are written straight to the table, as the functions' own builders make them; the system is
 * started already.
 */
export async function addHistory(history: History, items: number): Promise<void> {
  const { putAll } = await import("../../functions/_table/table.ts");
  const from = added.get(history.session_id) ?? 0;
  added.set(history.session_id, items);
  const batch = 500;
  for (let at = from; at < items; at += batch) {
    const numbers = Array.from({ length: Math.min(batch, items - at) }, (_, index) => at + index);
    const records = await Promise.all(numbers.map((n) => recordsOf(history, n)));
    const flat = records.flat();
    // A few at once: the engine takes more that way.
    const parts = Array.from({ length: 8 }, (_, part) => flat.filter((_, index) => index % 8 === part));
    await Promise.all(parts.map(putAll));
  }
}

async function recordsOf(history: History, n: number): Promise<Item[]> {
  const { formatId, projectDigest, timePlace } = await import("../../functions/_table/keys.ts");
  const { sessionMessageId } = await import("../../functions/_table/messages.ts");
  // Before all that the system itself makes: sequence numbers are counted from 1 there, and times are later.
  const random = String(n).padStart(12, "0");
  const call = sessionMessageId("call", history.session_id, 0, random);
  const at = projectDigest("alice", history.project_name);
  const task = formatId({ kind: "task", at, place: timePlace(1_700_000_000_000 + n, 0, random) });
  return [
    ...(await ended(history, { id: call, kind: "call", project_name: "" }, "answered")),
    ...(await ended(history, { id: task, kind: "task", project_name: history.project_name }, "done")),
    ...(await agent(n)),
    await auditEvent(workspace, history.audit_hour, n),
  ];
}

const hourMs = 3_600_000;

/** An hour that is over, within the last day. */
export const lastFullHour = () => Math.floor(Date.now() / hourMs) * hourMs - hourMs;

/** Adds events to one hour of a workspace's audit trail. */
export async function addAuditEvents(ofWorkspace: string, hour: number, count: number): Promise<void> {
  const { putAll } = await import("../../functions/_table/table.ts");
  await putAll(await Promise.all(Array.from({ length: count }, (_, n) => auditEvent(ofWorkspace, hour, n))));
}

/** Of requests that came 30 to a millisecond. */
async function auditEvent(ofWorkspace: string, hour: number, n: number): Promise<Item> {
  const { auditItem } = await import("../../functions/_table/audit_events.ts");
  return auditItem({
    at: new Date(hour + Math.floor(n / 30)).toISOString(),
    workspace: ofWorkspace,
    request_id: `f3Yx1hVPIAMEJ8A=${String(n).padStart(12, "0")}`,
    key_id: "4f1d02a9c3be",
    actor: "platform@example.com",
    agent: "lead",
    tool: "call_agent",
    tool_version: "1.0.0",
    risk_level: "medium",
    outcome: "ok",
    error_type: "",
    http_status: 200,
    duration_ms: 14,
    input_digest: "9f2d8c1a7be04c55e1f3a6d20b7c9e88fa31d5c4b2e6078199aa0c3d4e5f6071",
    via: "http",
    approval_id: "",
    schedule_id: "",
  });
}

/** A message that was answered: its head, its text and the reply's. */
async function ended(
  { session_id, sender, receiver }: History,
  own: Pick<Facts, "id" | "kind" | "project_name">,
  status: "answered" | "done",
): Promise<Item[]> {
  const { newHeadWrite } = await import("../../functions/_table/messages.ts");
  const { messageTexts, replyKey } = await import("../../functions/_table/texts.ts");
  const sent_at = Date.now() - 3_600_000;
  const deadline_at = sent_at + 60_000;
  const facts = {
    session_id,
    seq: 0,
    user_name: "alice",
    sender,
    receiver,
    task_name: "text",
    sent_at,
    deadline_s: 60,
  };
  const message = { ...facts, ...own, deadline_at, has_files: false, depth: 0 };
  // An ended head has left the index.
  const { GSI1PK: _, GSI1SK: __, ...head } = itemOf(newHeadWrite(workspace, message, deadline_at));
  const reply = { sender: receiver, type: "text", content, files: [], received_at: sent_at + 1_000 };
  const { ttl } = head;
  return [
    { ...head, status, reply_id: "1", updated_at: reply.received_at },
    ...messageTexts(workspace, own.id, { content, files: [] }, deadline_at),
    { ...replyKey(workspace, own.id, "1"), ...reply, ttl },
  ];
}

/** Sorts behind the agents that the bench registers. */
async function agent(n: number): Promise<Item[]> {
  const { registerAgentWrite } = await import("../../functions/_table/agents.ts");
  const name = `z-${String(n).padStart(6, "0")}`;
  const profile = {
    name,
    display_name: "",
    role: "member",
    skills: [],
    delivery: "inbox",
    webhook_url: "",
    answer_timeout_s: 60,
    secret_version: 1,
    secret_overlap_until: 0,
    created_at: Date.now(),
  } as const;
  const write = registerAgentWrite(workspace, { ...profile, skills: [] }, undefined);
  if (!("Update" in write)) throw new Error("A registration is an update.");
  const { Key, ExpressionAttributeValues: values = {} } = write.Update;
  return [{ ...Key, ...profile, GSI1PK: values[":gsi1pk"], GSI1SK: values[":gsi1sk"] }];
}

function itemOf(write: Write): Item {
  if (!("Put" in write)) throw new Error("A new head is put.");
  return write.Put.Item ?? {};
}
