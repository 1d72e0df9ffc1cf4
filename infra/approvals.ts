import { parseArgs } from "node:util";
import * as z from "zod";
import { approvalStates } from "../functions/_runtime/states.ts";
import { aligned } from "./aligned.ts";
import { fail, OperatorError, parsing, readPort, suggestion, UsageError } from "./arguments.ts";
import { fromOperator } from "./local/environment.ts";
import { theSystem } from "./local/registry.ts";

const usage = `Usage: npm run approvals -- <command> [options]

Commands:
  list          what waits for a decision (--status for what has been decided)
  show ID       one request, with the exact input that would run
  approve ID    run it, once, as the one who asked
  deny ID       never run it

Options:
  --status S    list: pending (the default), approved, executed, failed, denied or expired
  --comment T   approve, deny: why; the one who asked is shown it
  --url URL     the system (SWITCHBOARD_URL); without it, the local one
  --port N      the local system, when several run
  --help

The key in SWITCHBOARD_KEY says who you are. Nobody decides on a request of their own: make a key for each person with
  npm run keys -- create --scopes approval:read,approval:decide --agents none --actor you@example.com
`;

const options = {
  status: { type: "string" },
  comment: { type: "string" },
  url: { type: "string" },
  port: { type: "string" },
  help: { type: "boolean" },
} as const;

const commands = ["list", "show", "approve", "deny"] as const;
type State = (typeof approvalStates)[number];

/** What the operator wants done, and where. */
type Command = { url: string | undefined; port: number | undefined } & (
  | { name: "list"; status: State }
  | { name: "show"; id: string }
  | { name: "approve" | "deny"; id: string; comment: string }
);

/** Shows and decides what waits for a person, by the system's own tools: `npm run approvals`. */
async function main(): Promise<void> {
  const command = readCommand(process.argv.slice(2));
  if (!command) return void console.log(usage);
  console.log(await perform(command, asking(command)));
}

/** Reads a command line; undefined when it asks for help. @throws {UsageError} */
function readCommand(args: string[]): Command | undefined {
  const { values, positionals } = parsing(() => parseArgs({ args, options, allowPositionals: true }));
  if (values.help) return undefined;
  const [given, id, ...rest] = positionals;
  const name = readName(given);
  const { status, comment, url, port } = values;
  if (url !== undefined && port !== undefined) throw new UsageError("--url and --port name two systems.");
  if (status !== undefined && name !== "list") throw new UsageError(`--status means nothing to ${name}.`);
  if (comment !== undefined && name !== "approve" && name !== "deny") {
    throw new UsageError(`--comment means nothing to ${name}.`);
  }
  const tooMuch = name === "list" && id !== undefined ? [id, ...rest] : rest;
  if (tooMuch.length > 0) throw new UsageError(`"${tooMuch.join(" ")}" is too much.`);
  const place = { url, port: port === undefined ? undefined : readPort(port) };
  if (name === "list") return { name, ...place, status: readStatus(status ?? "pending") };
  if (!id) throw new UsageError(`${name} needs the approval's id, from list.`);
  return name === "show" ? { name, ...place, id } : { name, ...place, id, comment: comment ?? "" };
}

function readName(given: string | undefined): (typeof commands)[number] {
  if (given === undefined) throw new UsageError("Say what to do.");
  const name = commands.find((known) => known === given);
  if (name) return name;
  throw new UsageError(`There is no command "${given}".${suggestion(given, commands)}`);
}

function readStatus(given: string): State {
  const status = approvalStates.find((known) => known === given);
  if (status) return status;
  throw new UsageError(`No approval is "${given}".${suggestion(given, approvalStates)}`);
}

/** The parts of an approval that are shown, as the tools answer them. */
const approval = z.object({
  approval_id: z.string(),
  status: z.string(),
  tool: z.string(),
  tool_version: z.string(),
  risk_level: z.string(),
  side_effect: z.string(),
  key_id: z.string(),
  actor: z.string(),
  agent_name: z.string(),
  requested_at: z.string(),
  expires_at: z.string(),
  decided_by: z.string(),
  decided_at: z.string(),
  comment: z.string(),
  error_type: z.string(),
  input: z.string().default(""),
  result: z.string().default(""),
});
type Approval = z.output<typeof approval>;

const failure = z.object({ error: z.object({ message: z.string(), hint: z.string() }) });
const listed = z.object({ approvals: z.array(approval), next_cursor: z.string() });

type Ask = (tool: string, input: object) => Promise<unknown>;

/**
 * Asks the system that the operator named, or the one in SWITCHBOARD_URL, or the local one.
 * @throws {OperatorError} with the tool's own words, when it refuses
 */
function asking({ url, port }: Command): Ask {
  const { key, url: usual } = fromOperator();
  if (key === undefined) throw new OperatorError("Set SWITCHBOARD_KEY to your own key; --help says how to make one.");
  const base = url ?? (port === undefined ? usual : undefined) ?? theSystem(port).url;
  return async (tool, input) => {
    const response = await fetch(`${base}/v1/tools/${tool}`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(input),
    }).catch((error: unknown) => {
      throw new OperatorError(`${base} does not answer.`, { cause: error });
    });
    const body: unknown = await response.json().catch(() => undefined);
    if (response.ok && body !== undefined) return body;
    const { data } = failure.safeParse(body);
    if (data === undefined)
      throw new OperatorError(`${base} answers ${response.status}, and not as a Switchboard does.`);
    throw new OperatorError(plain(`${data.error.message} ${data.error.hint}`));
  };
}

/** @returns what to print */
async function perform(command: Command, ask: Ask): Promise<string> {
  if (command.name === "list") return list(ask, command.status);
  const { name, id: approval_id } = command;
  if (name === "show") {
    const [shown] = listed.parse(await ask("list_approvals", { approval_id })).approvals;
    return shown === undefined ? "" : inFull(shown);
  }
  const decision = { approval_id, decision: name, comment: command.comment };
  return inFull(approval.parse(await ask("decide_approval", decision)));
}

async function list(ask: Ask, status: State): Promise<string> {
  const found: Approval[] = [];
  for (let cursor = ""; ; ) {
    const page = listed.parse(await ask("list_approvals", { status, cursor, limit: 20 }));
    found.push(...page.approvals);
    cursor = page.next_cursor;
    if (cursor === "") break;
  }
  if (found.length === 0) return `Nothing is ${status}.`;
  const rows = found.map((each) => [each.approval_id, each.tool, each.risk_level, whoAsks(each), each.expires_at]);
  return aligned([["ID", "TOOL", "RISK", "ASKED BY", status === "pending" ? "DECIDE UNTIL" : "EXPIRED AT"], ...rows]);
}

const whoAsks = ({ actor, agent_name, key_id }: Approval) =>
  plain(agent_name === "" ? `${actor} (key ${key_id})` : `${agent_name}, for ${actor} (key ${key_id})`);

function inFull(seen: Approval): string {
  const facts = [
    ["Status", seen.status],
    ["Tool", `${seen.tool} ${seen.tool_version}`],
    ["Risk", `${seen.risk_level}; side effect: ${seen.side_effect}`],
    ["Asked by", whoAsks(seen)],
    ["Asked at", seen.requested_at],
    ["Decide until", seen.expires_at],
    ["Decided", seen.decided_by === "" ? "" : plain(`by ${seen.decided_by} at ${seen.decided_at}: ${seen.comment}`)],
    ["Refused with", seen.error_type],
  ].filter(([, value]) => value !== "") as string[][];
  const texts = [
    ["Input", seen.input],
    ["Result", seen.result],
  ].filter(([, text]) => text !== "");
  const shown = texts.map(([name, text = ""]) => {
    const lines = JSON.stringify(JSON.parse(text), undefined, 2).split("\n");
    return `\n${name}:\n${lines.map(plain).join("\n")}`;
  });
  return [aligned(facts), ...shown].join("\n");
}

/** What agents wrote must not move the cursor, colour the terminal, turn the text around or begin a line of its own. */
const plain = (text: string) =>
  text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (hidden) => `\\u{${hidden.codePointAt(0)?.toString(16)}}`);

main().catch((error: unknown) => fail(error, usage));
