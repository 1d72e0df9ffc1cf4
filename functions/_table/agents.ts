import { distance } from "fastest-levenshtein";
import * as z from "zod";
import { deliveries, roles } from "../_runtime/states.ts";
import { agentProfile, agentsIndex, fold, todosIndex } from "./keys.ts";
import { get, getAll, type Item, queryPage, type Write } from "./table.ts";

/** A registered participant. Names are unique after case folding and keep the spelling they were registered with. */
const agent = z.object({
  name: z.string(),
  display_name: z.string(),
  role: z.enum(roles),
  skills: z.array(z.string()),
  delivery: z.enum(deliveries),
  webhook_url: z.string(),
  answer_timeout_s: z.number(),
  /** Webhook secrets are derived from it; rotating adds one. */
  secret_version: z.number(),
  /** Until then (ms) deliveries carry a signature by the previous secret too. */
  secret_overlap_until: z.number().default(0),
  created_at: z.number(),
  last_seen_at: z.number().optional(),
  last_delivery_error: z.string().default(""),
  /** Failed deliveries in a row, and until when (ms) they are deferred. */
  failures: z.number().default(0),
  circuit_open_until: z.number().default(0),
  /** Deliveries under way, at most ten at a time. */
  in_flight: z.set(z.string()).optional(),
  /** Its webhook said 410: nothing is sent there until it registers again. */
  webhook_disabled: z.boolean().default(false),
});
export type Agent = z.output<typeof agent>;

const namePattern = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;
export const isAgentName = (name: string) => namePattern.test(name);

const parse = (item: Item | undefined) => item && agent.parse(item);

/** Access pattern: an agent's profile. Strongly consistent; a name that can't be one is unknown. */
export async function readAgent(workspace: string, name: string): Promise<Agent | undefined> {
  return isAgentName(name) ? parse(await get(agentProfile(workspace, name))) : undefined;
}

/** Access pattern: several profiles in one request, strongly consistent, at most 100. */
export async function readAgents(workspace: string, names: readonly string[]): Promise<(Agent | undefined)[]> {
  const valid = names.filter(isAgentName);
  const items = await getAll(valid.map((name) => agentProfile(workspace, name)));
  const found = new Map(valid.map((name, index) => [name, parse(items[index])]));
  return names.map((name) => found.get(name));
}

export const parseAgent = parse;

/**
 * Creates a profile, or updates it when it has the same spelling.
 * A condition that fails means a case variant holds the name.
 */
export function registerAgentWrite(
  workspace: string,
  profile: Omit<
    Agent,
    "last_seen_at" | "last_delivery_error" | "failures" | "circuit_open_until" | "webhook_disabled" | "in_flight"
  >,
  expectedVersion: number | undefined,
): Write {
  const key = agentProfile(workspace, profile.name);
  const names = Object.keys(profile);
  // A new registration is a fresh start for delivery too: the circuit closes and the old error goes.
  const set = [...names.map((name) => `#${name} = :${name}`), "#GSI1PK = :gsi1pk", "#GSI1SK = :gsi1sk"].join(", ");
  const unchanged =
    expectedVersion === undefined ? "attribute_not_exists(PK)" : "#name = :name AND #secret_version = :expected";
  return {
    Update: {
      Key: key,
      UpdateExpression: `SET ${set} REMOVE #failures, #circuit_open_until, #last_delivery_error, #webhook_disabled`,
      ConditionExpression: unchanged,
      ExpressionAttributeValues: {
        ...Object.fromEntries(Object.entries(profile).map(([name, value]) => [`:${name}`, value])),
        ":gsi1pk": agentsIndex(workspace),
        ":gsi1sk": fold(profile.name),
        ...(expectedVersion !== undefined && { ":expected": expectedVersion }),
      },
    },
  };
}

export function removeAgentWrite(workspace: string, name: string): Write {
  return { Delete: { Key: agentProfile(workspace, name), ConditionExpression: "attribute_exists(PK)" } };
}

/** One page of a workspace's agents by name, from the index: it may lag by a moment. */
export async function listAgents(workspace: string, after: string, limit: number) {
  const page = await queryPage({
    IndexName: "GSI1",
    KeyConditionExpression: "GSI1PK = :pk AND GSI1SK > :after",
    ExpressionAttributeValues: { ":pk": agentsIndex(workspace), ":after": after === "" ? " " : after },
    Limit: limit,
  });
  const keys = (page.Items ?? []).map(({ PK, SK }) => ({ PK: String(PK), SK: String(SK) }));
  const agents = (await getAll(keys)).map(parse).filter((found) => found !== undefined);
  const last = page.LastEvaluatedKey ?? page.Items?.at(-1);
  return { agents, last: String(last?.GSI1SK ?? ""), more: page.LastEvaluatedKey !== undefined };
}

/**
 * Which of the agents between two folded names have a todo, from the index: it may lag by a moment.
 * Agents with more todos than one page holds are skipped over, so the number of requests is bounded by the agents'.
 */
export async function busyAgents(workspace: string, first: string, last: string): Promise<Set<string>> {
  const busy = new Set<string>();
  let from = `${first}#`;
  for (;;) {
    const page = await queryPage({
      IndexName: "GSI1",
      KeyConditionExpression: "GSI1PK = :pk AND GSI1SK BETWEEN :from AND :to",
      ExpressionAttributeValues: { ":pk": todosIndex(workspace), ":from": from, ":to": `${last}#~` },
      Limit: 500,
    });
    const names = (page.Items ?? []).map(({ GSI1SK }) => String(GSI1SK).split("#")[0] ?? "");
    for (const name of names) busy.add(name);
    const lastSeen = names.at(-1);
    if (page.LastEvaluatedKey === undefined || lastSeen === undefined) return busy;
    from = `${lastSeen}#~`;
  }
}

const directoryPages = 5;

/** The first 500 agents of a workspace by name, for near matches. */
export async function readDirectory(workspace: string): Promise<Agent[]> {
  const agents: Agent[] = [];
  for (let page = 0, after: string | undefined = ""; page < directoryPages && after !== undefined; page++) {
    const read = await listAgents(workspace, after, 100);
    agents.push(...read.agents);
    after = read.more ? read.last : undefined;
  }
  return agents;
}

/** Names that a caller may have meant, nearest first: by name or display name, at most three. */
export function nearest(agents: readonly Agent[], wanted: string): string[] {
  const target = fold(wanted.trim());
  const scored = agents.map(({ name, display_name }) => ({
    name,
    // An agent without a display name is near nothing by it, also not to a name of one or two letters.
    score: Math.min(...[name, display_name || name].map((known) => distance(target, fold(known)))),
  }));
  const near = Math.max(2, Math.floor(target.length / 3));
  return scored
    .filter(({ score }) => score <= near)
    .sort((a, b) => a.score - b.score)
    .slice(0, 3)
    .map(({ name }) => name);
}
