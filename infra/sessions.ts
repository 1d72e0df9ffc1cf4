import { parseArgs } from "node:util";
import type { InboxItem } from "../functions/_table/inbox.ts";
import type { Head } from "../functions/_table/messages.ts";
import { aligned } from "./aligned.ts";
import { fail, OperatorError, parsing, UsageError } from "./arguments.ts";
import { type Place, placeOptions, placeUsage, readPlace } from "./place.ts";
import { connect } from "./systems.ts";

const usage = `Usage: npm run sessions -- show ID [options]

Prints a session's messages in order and what became of each; no content. (Its tasks belong to their project:
the tool get_project lists them.)

Options:
${placeUsage}
`;

/** Shows operators where the messages of a session are: `npm run sessions -- show ID`. */
async function main(): Promise<void> {
  const command = readCommand(process.argv.slice(2));
  if (!command) return void console.log(usage);
  await connect(command);
  console.log(await overview(command.workspace, command.sessionId));
}

/** Undefined when it asks for help. @throws {UsageError} */
function readCommand(args: string[]): (Place & { sessionId: string }) | undefined {
  const options = { ...placeOptions, help: { type: "boolean" } } as const;
  const { values, positionals } = parsing(() => parseArgs({ args, options, allowPositionals: true }));
  if (values.help) return undefined;
  const [name, sessionId, ...rest] = positionals;
  if (name !== "show" || sessionId === undefined || rest.length > 0) {
    throw new UsageError("Say what to show: show ID, with one session's id.");
  }
  return { ...readPlace(values), sessionId };
}

async function overview(workspace: string, sessionId: string): Promise<string> {
  // Loaded only now: its clients read the environment.
  const { readSession } = await import("../functions/_table/sessions.ts");
  const session = await readSession(workspace, sessionId);
  if (session === undefined) throw new OperatorError(`Workspace ${workspace} has no session "${sessionId}".`);
  const rows: string[][] = [];
  for await (const [head, item] of messagesOf(workspace, sessionId)) rows.push(row(head, item, Date.now()));
  const title = `Session ${sessionId} of ${session.user_name}: ${session.calls} calls, last number ${session.seq}`;
  const columns = ["SEQ", "KIND", "FROM", "TO", "STATE", "SENT", "DEADLINE", "ATTEMPTS", "REASON", "ID"];
  return `${title}\n${aligned([columns, ...rows])}`;
}

const pageSize = 100;

/** Each message in order, an open one with its inbox item. */
async function* messagesOf(workspace: string, sessionId: string): AsyncGenerator<[Head, InboxItem | undefined]> {
  const { session: sessionKey } = await import("../functions/_table/keys.ts");
  const { idOf, isOpen, listHeads } = await import("../functions/_table/messages.ts");
  const { readInboxItem } = await import("../functions/_table/inbox.ts");
  const { PK } = sessionKey(workspace, sessionId);
  for (let after: string | undefined = ""; after !== undefined; ) {
    const { heads, more }: { heads: Head[]; more: boolean } = await listHeads(PK, "messages", pageSize, after);
    for (const head of heads) yield [head, isOpen(head) ? await readInboxItem(workspace, head) : undefined];
    const last = heads.at(-1);
    after = more && last !== undefined ? idOf(last.id).place : undefined;
  }
}

function row(head: Head, item: InboxItem | undefined, now: number): string[] {
  const minute = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`;
  return [
    String(head.seq),
    head.kind,
    head.sender,
    head.receiver,
    item === undefined ? head.status : openState(item, now),
    minute(head.sent_at),
    minute(head.deadline_at),
    String((item?.attempts ?? head.attempts).length),
    item?.attempts.at(-1)?.outcome ?? (head.reason || "-"),
    head.id,
  ];
}

/** Where an open message is, by the clock. */
function openState(item: InboxItem, now: number): string {
  if (item.deadline_at <= now) return "timed_out";
  if (item.accepted_at !== undefined || item.status === "running") return "accepted";
  if (item.claimed_until > now) return item.leases > 0 ? "leased" : "being delivered";
  return item.next_attempt_at > now ? "waits for a retry" : "queued";
}

main().catch((error: unknown) => fail(error, usage));
