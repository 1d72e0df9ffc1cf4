import { createHash } from "node:crypto";

/** A record's place in the table. */
export interface Key {
  PK: string;
  SK: string;
}

/** User input inside a key: `#` separates the parts of a key, so input can't carry one. */
const part = (input: string) => input.replace(/[%#]/g, encodeURIComponent);

/** Agent names are compared after case folding. They are ASCII: to fold more would make a `k` of the Kelvin sign. */
export const fold = (agentName: string) => agentName.replace(/[A-Z]+/g, (capitals) => capitals.toLowerCase());

/** 22 URL-safe characters that stand for the given parts: 132 bits, so no two meet. */
const digest = (...parts: string[]) =>
  createHash("sha256").update(JSON.stringify(parts)).digest("base64url").slice(0, 22);

const workspace = (ws: string) => `WS#${ws}`;

/** Partitions by kind of record, as IAM policies name them (`dynamodb:LeadingKeys`). */
export const partitions = { ofWorkspaces: "WS#*", apiKeys: "KEY#*", auditEvents: "AUDIT#*" } as const;

/** The attributes of the record that counts an API key's uses: all that a function may change under a key. */
export const apiKeyUses = ["uses", "ttl"] as const;

/** The workspace that a record is under; workspace names are [a-z0-9]+, so they hold no `#`. */
export const workspaceOf = (PK: string) => PK.split("#")[1] ?? "";

// --- API keys: the only records that are not under a workspace, since reading one is what names it.

export const apiKey = (ws: string, id: string): Key => ({ PK: `KEY#${ws}#${id}`, SK: "KEY" });
export const apiKeyRate = (ws: string, id: string, minute: number): Key => ({
  PK: `KEY#${ws}#${id}`,
  SK: `RATE#${minute}`,
});
export const apiKeysIndex = (ws: string) => `KEYS#${ws}`;

// --- Audit events, by hour. Not under WS#, so that what may write a workspace's records can't touch its trail.

/** @param hour `2026-11-30T18` */
export const auditHour = (ws: string, hour: string) => `AUDIT#${ws}#${hour}`;
export const auditEvent = (ws: string, at: string, requestId: string): Key => ({
  PK: auditHour(ws, at.slice(0, 13)),
  SK: `${at}#${part(requestId)}`,
});

// --- Approvals: a workspace's in one partition, by time; what is held and what came of it lies apart, so that a
//     list never reads it.

export const approvalsPartition = (ws: string) => `${workspace(ws)}#APPROVALS`;
export const approval = (ws: string, id: string): Key => ({ PK: approvalsPartition(ws), SK: `APPROVAL#${id}` });
/** What is held, and what each run of it answered. */
export type ApprovalText = "INPUT" | `RESULT#${string}`;
export const approvalTexts = (ws: string, id: string) => `${workspace(ws)}#APPROVAL#${id}`;
export const approvalText = (ws: string, id: string, name: ApprovalText, piece: number): Key => ({
  PK: approvalTexts(ws, id),
  SK: `${name}#${String(piece).padStart(2, "0")}`,
});
/** Index partition of approvals that `sweep` must look at. */
export const approvalsDueIndex = "DUE#APPROVALS";

// --- Agents: profile and open inbox items in one partition, items in group order.

const agentPartition = (ws: string, agent: string) => `${workspace(ws)}#AGENT#${fold(agent)}`;
export const agentProfile = (ws: string, agent: string): Key => ({ PK: agentPartition(ws, agent), SK: "PROFILE" });
/** Index partition of a workspace's agents; sorted by folded name. */
export const agentsIndex = (ws: string) => `${workspace(ws)}#AGENTS`;
/** Index partition of a workspace's todos; sorted by folded receiver, so a range covers a page of agents. */
export const todosIndex = (ws: string) => `${workspace(ws)}#TODOS`;
export const todosIndexSort = (agent: string, messageId: string) => `${fold(agent)}#${messageId}`;

// --- Partitions that hold messages: a session's or a project's. Their ids start with the partition's digest,
//     so that an id alone leads to its record.

export const sessionDigest = (sessionId: string) => digest("session", sessionId);
export const projectDigest = (user: string, project: string) => digest("project", user, project);

const partition = (ws: string, place: string) => `${workspace(ws)}#AT#${place}`;
export const session = (ws: string, sessionId: string): Key => ({
  PK: partition(ws, sessionDigest(sessionId)),
  SK: "SESSION",
});
export const project = (ws: string, user: string, name: string): Key => ({
  PK: partition(ws, projectDigest(user, name)),
  SK: "PROJECT",
});

// --- Ids: <kind>_<digest of the partition>_<place in it>

/** A note is a message that tells something: a late reply, a report, a withdrawal. */
type IdKind = "call" | "task" | "note" | "asg";

export interface Id {
  kind: IdKind;
  /** Digest of the session or project that holds the record. */
  at: string;
  /** Sorts records of one partition in the order they came. */
  place: string;
}

const idPattern = /^(call|task|note|asg)_([\w-]{22})_(\w{23,26})$/;

/** Reads an id that a caller sent; undefined when it can't be one of ours. */
export function parseId(text: string): Id | undefined {
  const [, kind, at, place] = idPattern.exec(text) ?? [];
  return kind === undefined || at === undefined || place === undefined
    ? undefined
    : { kind: kind as IdKind, at, place };
}

export const formatId = ({ kind, at, place }: Id) => `${kind}_${at}_${place}`;

/** A place by sequence number in a session; the random part keeps ids of a re-created session apart. */
export const sequencePlace = (seq: number, random: string) => `${String(seq).padStart(10, "0")}_${random}`;

/** A place by time in a project; `index` keeps what was made at once in its order. */
export const timePlace = (atMs: number, index: number, random: string) =>
  `${String(atMs).padStart(13, "0")}_${String(index).padStart(2, "0")}${random.slice(0, 10)}`;

/** Order of a message in its group, taken from its place. */
const inGroup = (sessionAt: string, seq: number) => `${sessionAt}#${String(seq).padStart(10, "0")}`;

const headSort: Record<IdKind, string> = { call: "MSG", note: "MSG", task: "TASK", asg: "ASSIGNMENT" };

/** The head of a message, or an assignment: what became of it. */
export const record = (ws: string, id: Id): Key => ({
  PK: partition(ws, id.at),
  SK: `${headSort[id.kind]}#${id.place}`,
});
export const messagesPrefix = "MSG#";
export const tasksPrefix = "TASK#";

/** The texts of a message lie beside its head, so that one query finds them all. */
export type TextPart = "BODY" | "FILES" | `REPLY#${string}` | `LATE#${string}`;
export const textsPrefix = (id: Id) => `TEXT#${id.kind}#${id.place}#`;
export const text = (ws: string, id: Id, name: TextPart): Key => ({
  PK: partition(ws, id.at),
  SK: `${textsPrefix(id)}${name}`,
});

/** An open message in its receiver's inbox; one group's items sort by sequence. */
export const inboxItem = (ws: string, receiver: string, sessionAt: string, seq: number): Key => ({
  PK: agentPartition(ws, receiver),
  SK: `INBOX#${inGroup(sessionAt, seq)}`,
});
export const inboxPrefix = "INBOX#";
export const groupPrefix = (sessionAt: string) => `INBOX#${sessionAt}#`;

// --- Schedules: what lists show in one partition of the workspace, what is to be assigned beside it.

export const schedule = (ws: string, id: string): Key => ({ PK: `${workspace(ws)}#SCHEDULES`, SK: `SCHEDULE#${id}` });
export const schedulesPrefix = "SCHEDULE#";
export const scheduleInput = (ws: string, id: string): Key => ({ PK: `${workspace(ws)}#SCHEDULE#${id}`, SK: "INPUT" });
/** Sorts schedules in the order in which they were made. */
export const scheduleId = (atMs: number, random: string) => `sch_${String(atMs).padStart(13, "0")}_${random}`;
export const isScheduleId = (text: string) => /^sch_\d{13}_[0-9a-f]{12}$/.test(text);
/** The name of a schedule's trigger: EventBridge Scheduler takes at most 64 of `[0-9a-zA-Z-_.]`, people's names are freer. */
export const triggerName = (ws: string, id: string) => `sb-${digest("schedule", ws, id)}`;
/** Index partition of the schedules that `sweep` must look at. */
export const dueSchedulesIndex = "DUE#SCHEDULES";

// --- Repositories: a workspace's in one partition, so that one query lists them.

/** What a repository may be called; the name is also a part of its objects' keys in the bucket. */
export const isRepositoryId = (text: string) => /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(text);
/** All objects of the bucket that tools may read are below it (infra/grants.ts). */
export const repositoriesPrefix = "repositories/";
export const repositories = (ws: string) => `${workspace(ws)}#REPOSITORIES`;
export const repository = (ws: string, id: string): Key => ({ PK: repositories(ws), SK: `REPOSITORY#${part(id)}` });

// --- Idempotency, and what is overdue.

export const idempotency = (ws: string, keyId: string, tool: string, speaker: string, clientKey: string): Key => ({
  PK: `${workspace(ws)}#IDEMPOTENCY#${keyId}#${tool}#${fold(part(speaker))}#${part(clientKey)}`,
  SK: "IDEMPOTENCY",
});

/** Heads that `sweep` must look at again are spread over this many index partitions. */
export const dueShards = 8;
export const dueIndex = (shard: number) => `DUE#${shard}`;
export const dueShardOf = (id: Id) => createHash("sha256").update(formatId(id)).digest().readUInt8(0) % dueShards;
/** The same for a record that is found by workspace and id. */
export const dueRecordSort = (atMs: number, ws: string, id: string) => `${new Date(atMs).toISOString()}#${ws}#${id}`;
/** Sortable instant, so that one range finds everything due by now. */
export const dueSort = (atMs: number, id: Id) => `${new Date(atMs).toISOString()}#${formatId(id)}`;

/** SQS message group and its FIFO order: one receiver in one session (design, section 2). */
export const messageGroup = (ws: string, receiver: string, sessionAt: string) => digest(ws, fold(receiver), sessionAt);
