import { mustExist } from "../_delivery/agents.ts";
import { ToolError } from "../_runtime/errors.ts";
import { serve } from "../_runtime/serve.ts";
import { removeAgentWrite } from "../_table/agents.ts";
import { effectOfWinner, rememberWrites } from "../_table/idempotency.ts";
import { readAgentAndInbox } from "../_table/inbox.ts";
import { ConditionFailed, transact } from "../_table/table.ts";
import { contract } from "./contract.ts";

export const handler = serve(contract, async ({ agent_name }, { workspace, repeat }) => {
  if (repeat?.effect !== undefined) return { agent_name: repeat.effect };
  const { agent, items } = await readAgentAndInbox(workspace, agent_name);
  const { name } = await mustExist(workspace, agent, agent_name, "AGENT_NOT_FOUND");
  const now = Date.now();
  const open = items.filter(({ deadline_at }) => deadline_at > now).length;
  if (open > 0) throw new ToolError("AGENT_HAS_MESSAGES", `${name} has ${open} open messages.`, { details: { open } });
  try {
    await transact([removeAgentWrite(workspace, name), ...rememberWrites(repeat, name)]);
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    // Either this very request came twice, or somebody else removed the agent at the same moment: it is gone.
    if ((await effectOfWinner(repeat)) === undefined) await transact(rememberWrites(repeat, name));
  }
  return { agent_name: name };
});
