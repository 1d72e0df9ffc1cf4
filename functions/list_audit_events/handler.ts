import * as z from "zod";
import { env } from "../_runtime/env.ts";
import { ToolError } from "../_runtime/errors.ts";
import { serve } from "../_runtime/serve.ts";
import { isAgentName } from "../_table/agents.ts";
import { type AuditEvent, auditEventsOfHour } from "../_table/audit_events.ts";
import { auditHour, fold } from "../_table/keys.ts";
import { contract } from "./contract.ts";

type Input = z.output<typeof contract.input>;

/** One request reads so much at most, then hands out a cursor: hours without events cost a read each, too. */
const readsPerRequest = 48;
const mostRead = 100;
const hourMs = 3_600_000;

export const handler = serve(contract, async (input, { workspace }) => {
  if (input.agent_name !== "" && !isAgentName(input.agent_name)) {
    throw new ToolError("INVALID_INPUT", "agent_name: can't be the name of an agent.", {
      hint: "Give an agent's name as list_agents shows it, or leave it out for all.",
    });
  }
  const found: { event: AuditEvent; place: string }[] = [];
  const { range, from } = input.cursor === "" ? beginning(input) : goingOn(input.cursor);
  let position: Position | undefined = from;
  for (let read = 0; position !== undefined && read < readsPerRequest && found.length < input.limit; read++) {
    const { hour, after }: Position = position;
    const start = after === undefined ? undefined : { PK: auditHour(workspace, hour), SK: after };
    const page = await auditEventsOfHour(workspace, hour, range, readSize(input, found.length), start);
    found.push(...page.events.filter(({ event }) => fits(event, input)));
    position = page.next ? { hour, after: String(page.next.SK) } : hourBefore(hour, range);
  }
  const shown = found.slice(0, input.limit);
  const last = found.length > input.limit ? shown.at(-1) : undefined;
  const next = last ? { hour: last.event.at.slice(0, 13), after: last.place } : position;
  return { events: shown.map(({ event }) => inList(event)), next_cursor: next ? formatCursor(next, range) : "" };
});

/** Both ends as sort keys; `~` sorts behind every request id. */
interface Range {
  from: string;
  to: string;
}

const instant = z.iso.datetime({ offset: true });
const dayMs = 24 * hourMs;

/**
 * The first page. Its "now" holds for all pages, so that none shifts under the reader; and it reaches no further than
 * there are events, so that the pages end.
 * @throws {ToolError} INVALID_INPUT
 */
function beginning({ from, to }: Input): { range: Range; from: Position } {
  const now = Date.now();
  const until = readInstant("to", to, now);
  const since = readInstant("from", from, until - dayMs);
  if (since > until) {
    throw new ToolError("INVALID_INPUT", "from: lies after to.", { hint: "Give the earlier instant as from." });
  }
  // DynamoDB may take two days to delete what has expired.
  const oldest = now - (env().AUDIT_RETENTION_DAYS + 2) * dayMs;
  const [first, last] = [since, until].map((at) => new Date(Math.min(Math.max(at, oldest), now)).toISOString());
  return { range: { from: String(first), to: `${last}#~` }, from: { hour: String(last).slice(0, 13) } };
}

function readInstant(name: string, text: string, otherwise: number): number {
  if (text === "") return otherwise;
  if (instant.safeParse(text).success) return Date.parse(text);
  throw new ToolError("INVALID_INPUT", `${name}: '${text}' is no instant with a zone.`, {
    hint: "Write it like 2026-11-30T09:00:00Z or 2026-11-30T17:00:00+08:00.",
  });
}

/** Where to read on: in an hour, behind a sort key; from its newest event without one. */
interface Position {
  hour: string;
  after?: string;
}

function hourBefore(hour: string, { from }: Range): Position | undefined {
  const before = new Date(Date.parse(`${hour}:00:00Z`) - hourMs).toISOString().slice(0, 13);
  return before >= from.slice(0, 13) ? { hour: before } : undefined;
}

const at = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`;
const cursorPattern = new RegExp(`^(?<from>${at})_(?<to>${at})_(?<hour>\\d{4}-\\d\\d-\\d\\dT\\d\\d)_(?<after>[!-~]*)$`);

const formatCursor = ({ hour, after = "" }: Position, { from, to }: Range) =>
  `${from}_${to.slice(0, -2)}_${hour}_${after}`;

/** @throws {ToolError} INVALID_CURSOR */
function goingOn(cursor: string): { range: Range; from: Position } {
  const { from = "", to = "", hour = "", after = "" } = cursorPattern.exec(cursor)?.groups ?? {};
  const range = { from, to: `${to}#~` };
  const exist = [from, to, `${hour}:00:00.000Z`].every(isInstant);
  const isWithin = hour >= from.slice(0, 13) && hour <= to.slice(0, 13);
  if (exist && isWithin && (after === "" || (after.startsWith(hour) && after >= from && after <= range.to))) {
    return { range, from: after === "" ? { hour } : { hour, after } };
  }
  throw new ToolError("INVALID_CURSOR", "The cursor is not one that list_audit_events gave out.");
}

/** Whether a text of that form is an instant: there is no 31 February, and no 29 o'clock. */
const isInstant = (text: string) => {
  const at = Date.parse(text);
  return !Number.isNaN(at) && new Date(at).toISOString() === text;
};

/** A filter is applied to what was read. Without one, one event more than are wanted tells that more follow. */
const readSize = (input: Input, found: number) => (isFiltered(input) ? mostRead : input.limit + 1 - found);

const isFiltered = ({ agent_name, tool, outcome }: Input) => agent_name !== "" || tool !== "" || outcome !== undefined;

const fits = (event: AuditEvent, { agent_name, tool, outcome }: Input) =>
  (agent_name === "" || fold(event.agent) === fold(agent_name)) &&
  (tool === "" || event.tool === tool) &&
  (outcome === undefined || event.outcome === outcome);

const inList = ({ workspace: _, agent, ...event }: AuditEvent) => ({ ...event, agent_name: agent });
