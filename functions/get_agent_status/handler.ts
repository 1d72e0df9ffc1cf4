import { mustExist } from "../_delivery/agents.ts";
import { contextKeys, readContext } from "../_delivery/work_context.ts";
import { serve } from "../_runtime/serve.ts";
import { type InboxItem, isTodo, readAgentAndInbox } from "../_table/inbox.ts";
import { getNamed } from "../_table/table.ts";
import { contract } from "./contract.ts";

export const handler = serve(contract, async ({ agent_name, user_name }, { workspace }) => {
  const { agent, items } = await readAgentAndInbox(workspace, agent_name);
  const { name } = await mustExist(workspace, agent, agent_name, "AGENT_NOT_FOUND");
  const now = Date.now();
  const todos = items.filter((item) => isTodo(item, now)).sort(byUrgency);
  const mine = todos.filter((item) => item.user_name === user_name);
  const forOthers = todos.length > mine.length ? ["busy for another user"] : [];
  return {
    agent_name: name,
    user_name,
    todos: [...mine.slice(0, todosShown).map(inWords), ...notShown(mine.length), ...forOthers],
    ...(await workInHand(workspace, mine[0])),
  };
});

/** An answer has a limit: 6 MB, which names of 200 characters would reach with a few thousand todos. */
const todosShown = 200;
const notShown = (todos: number) => (todos > todosShown ? [`… and ${todos - todosShown} more`] : []);

/** Running before assigned, then oldest first. */
const byUrgency = (a: InboxItem, b: InboxItem) =>
  Number(b.status === "running") - Number(a.status === "running") || a.sent_at - b.sent_at || a.seq - b.seq;

const inWords = ({ kind, sender, project_name, task_name }: InboxItem) =>
  kind === "call" ? `reply to ${sender}` : [project_name, task_name].filter((part) => part !== "").join("/");

async function workInHand(workspace: string, item: InboxItem | undefined) {
  if (item === undefined) return { session_id: "", project_name: "", task_name: "", files: [], project_root_dir: "" };
  const { session_id, project_name, task_name } = item;
  const context = readContext(item, await getNamed(contextKeys(workspace, item)));
  return { session_id, project_name, task_name, ...context };
}
