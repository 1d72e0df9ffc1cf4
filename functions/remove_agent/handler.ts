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
  if (items.length > 0) {
    throw new ToolError("AGENT_HAS_MESSAGES", `${name} has ${items.length} open messages.`, {
      details: { open: items.length },
    });
  }
  try {
    await transact([removeAgentWrite(workspace, name), ...rememberWrites(repeat, name)]);
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    await effectOfWinner(repeat); // Otherwise somebody else removed it at the same moment: it is gone.
  }
  return { agent_name: name };
});
