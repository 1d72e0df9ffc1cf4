import type { Assignment } from "../../../functions/_table/assignments.ts";
import type { InboxItem } from "../../../functions/_table/inbox.ts";
import type { Head } from "../../../functions/_table/messages.ts";
import type { Session } from "../../../functions/_table/sessions.ts";
import type { Item } from "../../../functions/_table/table.ts";
import { agents, project, type SessionId, sessions, userOf } from "./actions.ts";

/** A message as the table has it, under a name that says what it is: `c3`, `a2.0`, `reply to c3`, `report of a2`. */
export interface Seen {
  key: string;
  head: Head;
  /** Its place in its receiver's inbox, while it is open. */
  item: InboxItem | undefined;
  /** The text of its reply or result. */
  content: string;
}

/** Everything there is in a workspace, straight from the table. */
export interface Sight {
  messages: Map<string, Seen>;
  byId: Map<string, Seen>;
  items: InboxItem[];
  sessions: Map<SessionId, Session | undefined>;
  /** By the prefix of its tasks' names. */
  assignments: Map<string, Assignment>;
  /** Deliveries under way. */
  slots: number;
}

export async function lookAt(workspace: string): Promise<Sight> {
  const { queryPrefix } = await import("../../../functions/_table/table.ts");
  const { parseSession } = await import("../../../functions/_table/sessions.ts");
  const { readAgentAndInbox } = await import("../../../functions/_table/inbox.ts");
  const keys = await import("../../../functions/_table/keys.ts");
  const [conversations, projects, inboxes] = await Promise.all([
    Promise.all(sessions.map((id) => queryPrefix(keys.session(workspace, id).PK, ""))),
    Promise.all(sessions.map((id) => queryPrefix(keys.project(workspace, userOf[id], project).PK, ""))),
    Promise.all(agents.map((agent) => readAgentAndInbox(workspace, agent))),
  ]);
  const records = [...conversations, ...projects].flat();
  const heads = sortedUnder(records, /^(MSG|TASK)#/) as unknown as Head[];
  const items = inboxes.flatMap((inbox) => inbox.items);
  const seen = named(heads, items, textsOf(records));
  return {
    messages: new Map(seen.map((each) => [each.key, each])),
    byId: new Map(seen.map((each) => [each.head.id, each])),
    items,
    sessions: new Map(
      sessions.map((id, at) => [id, parseSession(sortedUnder(conversations[at] ?? [], /^SESSION$/)[0])]),
    ),
    assignments: assignmentsOf(sortedUnder(records, /^ASSIGNMENT#/) as unknown as Assignment[]),
    slots: inboxes.reduce((sum, { agent }) => sum + (agent?.in_flight?.size ?? 0), 0),
  };
}

const sortedUnder = (records: readonly Item[], prefix: RegExp) => records.filter(({ SK }) => prefix.test(String(SK)));

/** Texts of replies, by the id under which heads name them. */
const textsOf = (records: readonly Item[]) =>
  new Map(sortedUnder(records, /#REPLY#/).map(({ SK, content }) => [String(SK).split("#").at(-1), String(content)]));

const assignmentsOf = (found: readonly Assignment[]) =>
  new Map(found.map((assignment) => [assignmentOf(assignment.tasks[0]?.name ?? ""), assignment]));

function named(
  heads: readonly Head[],
  items: readonly InboxItem[],
  texts: ReadonlyMap<string | undefined, string>,
): Seen[] {
  const names = new Map(heads.filter(({ about }) => about === undefined).map((head) => [head.id, head.task_name]));
  for (const { assignment_id, task_name } of heads) {
    if (assignment_id !== undefined && task_name !== "") names.set(assignment_id, assignmentOf(task_name));
  }
  const open = new Map(items.map((item) => [item.id, item]));
  return heads.map((head) => ({
    key: head.about === undefined ? head.task_name : `${noticeWords[head.kind]} ${names.get(head.about)}`,
    head,
    item: open.get(head.id),
    content: texts.get(head.reply_id ?? "") ?? "",
  }));
}

const noticeWords = { reply: "reply to", report: "report of", call: "withdrawal of", task: "withdrawal of" } as const;
export const assignmentOf = (taskKey: string) => taskKey.split(".")[0] ?? "";

/** Edges of waits that are not over by the clock, as `from → to`. */
export function liveEdges({ sessions }: Sight, id: SessionId): string[] {
  const now = Date.now();
  const waits = [...(sessions.get(id)?.waits ?? [])];
  return waits.flatMap(([from, edges]) =>
    [...edges]
      .map((edge) => edge.split("#"))
      .filter(([until]) => Number(until) > now)
      .map(([, to]) => `${from} → ${to}`),
  );
}

/** Whether something is asked of its receiver. */
export const isRequest = ({ head }: Seen) => head.about === undefined;

/** By a webhook's 2xx or an executor's progress. */
export const isTaken = ({ accepted_at, status }: InboxItem) => accepted_at !== undefined || status === "running";
