import { ToolError } from "../_runtime/errors.ts";
import { isPlaceholder } from "../_runtime/input.ts";
import { serve } from "../_runtime/serve.ts";
import { iso } from "../_runtime/time.ts";
import { type Agent, busyAgents, isAgentName, listAgents } from "../_table/agents.ts";
import { fold } from "../_table/keys.ts";
import { contract } from "./contract.ts";

/** A filter is applied to what was read, so one request reads at most this many pages before it hands out a cursor. */
const pagesPerRequest = 5;
const filteredPageSize = 100;

export const handler = serve(contract, async ({ role, skill, cursor, limit }, { workspace }) => {
  if (cursor !== "" && (!isAgentName(cursor) || isPlaceholder(cursor))) {
    throw new ToolError("INVALID_CURSOR", "The cursor is not one that list_agents gave out.");
  }
  const fits = (agent: Agent) =>
    (role === undefined || agent.role === role) && (skill === "" || agent.skills.includes(skill));
  const isFiltered = role !== undefined || skill !== "";
  // One more than asked for tells whether more follows.
  const pageSize = isFiltered ? filteredPageSize : limit + 1;
  const found: Agent[] = [];
  let after = cursor;
  let more = true;
  for (let page = 0; more && page < pagesPerRequest && found.length < limit; page++) {
    const read = await listAgents(workspace, after, pageSize);
    found.push(...read.agents.filter(fits));
    more = read.more;
    after = read.last === "" ? after : read.last;
  }
  const shown = found.slice(0, limit);
  const lastShown = shown.at(-1);
  const cut = found.length > limit;
  const busy = await busyAmong(workspace, shown);
  return {
    agents: shown.map((agent) => inList(agent, busy)),
    next_cursor: cut && lastShown !== undefined ? fold(lastShown.name) : more ? after : "",
  };
});

async function busyAmong(workspace: string, agents: readonly Agent[]): Promise<Set<string>> {
  const [first, last] = [agents[0], agents.at(-1)];
  return first && last ? busyAgents(workspace, fold(first.name), fold(last.name)) : new Set();
}

const inList = (agent: Agent, busy: ReadonlySet<string>) => ({
  agent_name: agent.name,
  display_name: agent.display_name,
  role: agent.role,
  skills: agent.skills,
  delivery: agent.delivery,
  status: busy.has(fold(agent.name)) ? ("busy" as const) : ("idle" as const),
  last_seen_at: iso(agent.last_seen_at),
  last_delivery_error: agent.last_delivery_error,
});
