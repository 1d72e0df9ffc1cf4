import { type ErrorType, ToolError } from "../_runtime/errors.ts";
import { type Agent, nearest, readDirectory } from "../_table/agents.ts";

/** "Did you mean coder?", from names that the caller may see; empty when nothing is near. */
export function didYouMean(directory: readonly Agent[], name: string): { near: string[]; question: string } {
  const near = nearest(directory, name);
  return { near, question: near.length === 0 ? "" : `Did you mean ${near.join(" or ")}?` };
}

/** @throws {ToolError} of `type`, with near matches, when there is no such agent */
export async function mustExist(
  workspace: string,
  agent: Agent | undefined,
  name: string,
  type: ErrorType,
): Promise<Agent> {
  if (agent !== undefined) return agent;
  const { near, question } = didYouMean(await readDirectory(workspace), name);
  throw new ToolError(type, `There is no agent '${[...name].slice(0, 64).join("")}'.`, {
    ...(question !== "" && { hint: `${question} list_agents shows who is there.` }),
    details: { near_matches: near },
  });
}

/** @throws {ToolError} LEADER_NOT_FOUND, or NOT_A_LEADER when the agent may not assign work (design, section 5.3) */
export async function mustLead(workspace: string, agent: Agent | undefined, name: string): Promise<Agent> {
  const leader = await mustExist(workspace, agent, name, "LEADER_NOT_FOUND");
  if (leader.role !== "member") return leader;
  throw new ToolError("NOT_A_LEADER", `${leader.name} is a member; only masters and directors assign work.`);
}
