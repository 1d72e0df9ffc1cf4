import { parseArgs } from "node:util";
import * as z from "zod";
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
  status: { type: "string", default: "pending" },
  comment: { type: "string", default: "" },
  url: { type: "string" },
  port: { type: "string" },
  help: { type: "boolean", default: false },
} as const;

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

/** Shows and decides what waits for a person, by the system's own tools: `npm run approvals`. */
async function main(): Promise<void> {
  const { values, positionals } = parsing(() => parseArgs({ options, allowPositionals: true }));
  if (values.help) return void console.log(usage);
  const [command, id, ...rest] = positionals;
  if (command === undefined) throw new UsageError("Say what to do.");
  if (!Object.hasOwn(commands, command)) {
    throw new UsageError(`There is no command "${command}".${suggestion(command, Object.keys(commands))}`);
  }
  if (rest.length > 0) throw new UsageError(`"${rest.join(" ")}" is too much.`);
  const ask = asking(values.url, values.port);
  if (command === "list") return console.log(await list(ask, values.status));
  if (!id) throw new UsageError(`${command} needs the approval's id, from list.`);
  const seen = await commands[command as "show" | "approve" | "deny"](ask, id, values.comment);
  console.log(inFull(seen));
}

const commands = {
  list: undefined as never,
  show: async (ask: Ask, approval_id: string) =>
    listed.parse(await ask("list_approvals", { approval_id })).approvals[0] as Approval,
  approve: async (ask: Ask, approval_id: string, comment: string) =>
    approval.parse(await ask("decide_approval", { approval_id, decision: "approve", comment })),
  deny: async (ask: Ask, approval_id: string, comment: string) =>
    approval.parse(await ask("decide_approval", { approval_id, decision: "deny", comment })),
};

/** @throws {OperatorError} with the tool's own words, when it refuses */
function asking(givenUrl: string | undefined, port: string | undefined): Ask {
  const { key, url: usualUrl } = fromOperator();
  // What is typed goes before what is set: a decision must not go to another system than the one that was named.
  const url =
    givenUrl ??
    (port === undefined ? usualUrl : undefined) ??
    theSystem(port === undefined ? undefined : readPort(port)).url;
  if (key === undefined) throw new OperatorError("Set SWITCHBOARD_KEY to your own key; --help says how to make one.");
  return async (tool, input) => {
    const response = await fetch(`${url}/v1/tools/${tool}`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(input),
    }).catch((error: unknown) => {
      throw new OperatorError(`${url} does not answer.`, { cause: error });
    });
    const body: unknown = await response.json().catch(() => undefined);
    if (response.ok && body !== undefined) return body;
    const { data } = failure.safeParse(body);
    if (data === undefined)
      throw new OperatorError(`${url} answers ${response.status}, and not as a Switchboard does.`);
    throw new OperatorError(plain(`${data.error.message} ${data.error.hint}`));
  };
}

async function list(ask: Ask, status: string): Promise<string> {
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
