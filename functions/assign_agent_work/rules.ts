import type * as z from "zod";
import { didYouMean, mustLead } from "../_delivery/agents.ts";
import { limits } from "../_runtime/limits.ts";
import { type Agent, readAgents, readDirectory } from "../_table/agents.ts";
import { countTodos, type InboxItem, isTodo, readGroup } from "../_table/inbox.ts";
import { fold, sessionDigest } from "../_table/keys.ts";
import { assertSessionUser, readSession, type Session } from "../_table/sessions.ts";
import type { contract } from "./contract.ts";

type Input = z.output<typeof contract.input>;

/** One task that was asked for: accepted with its executor, or refused with a reason. */
export type Judged = { task: Input["tasks"][number] } & ({ executor: Agent } | { refused: string });

/**
 * Judges each task on its own (design, section 5.3).
 * @throws {ToolError} LEADER_NOT_FOUND, NOT_A_LEADER, SESSION_USER_MISMATCH for the whole assignment
 */
export async function judge(workspace: string, input: Input): Promise<{ leader: Agent; judged: Judged[] }> {
  const at = sessionDigest(input.session_id);
  const names = [...new Set(input.tasks.map(({ executor }) => executor))];
  const [[leaderFound, ...executors], leaderItems, session] = await Promise.all([
    readAgents(workspace, [input.leader, ...names]),
    readGroup(workspace, input.leader, at),
    readSession(workspace, input.session_id),
  ]);
  const leader = await mustLead(workspace, leaderFound, input.leader);
  assertSessionUser(session, input.user_name);
  const byName = new Map(names.map((name, index) => [name, executors[index]]));
  const places = await placesLeft(workspace, input, session, executors);
  const directory = executors.includes(undefined) ? await readDirectory(workspace) : [];
  const judged = input.tasks.map((task): Judged => {
    const executor = byName.get(task.executor);
    const refused =
      executor === undefined ? unknown(directory, task.executor) : reasonAgainst(executor, leader, leaderItems);
    return executor === undefined || refused !== "" ? { task, refused } : takePlace(task, executor, places);
  });
  return { leader, judged };
}

function unknown(directory: readonly Agent[], name: string): string {
  const { question } = didYouMean(directory, name);
  return `There is no agent '${[...name].slice(0, 64).join("")}'. ${question || "list_agents shows who is there."}`;
}

/** Empty when nothing speaks against it. */
function reasonAgainst(executor: Agent, leader: Agent, leaderItems: readonly InboxItem[]): string {
  if (executor.role === "master") return `${executor.name} is a master and takes no work.`;
  if (executor.name === leader.name)
    return `${executor.name} is the leader; do this one yourself or name another agent.`;
  const answering = leaderItems.some(
    (item) => item.kind === "call" && isTodo(item, Date.now()) && fold(item.sender) === fold(executor.name),
  );
  return answering
    ? `${executor.name} has called you in this session and waits for your answer: reply to it directly.`
    : "";
}

/**
 * How many more messages each executor may have open in this session. Nobody has more open than the session ever
 * had messages, so a young session needs no counting; later it takes a query for each executor, at most 40 at once.
 */
async function placesLeft(
  workspace: string,
  { session_id, tasks }: Input,
  session: Session | undefined,
  executors: readonly (Agent | undefined)[],
): Promise<Map<string, number>> {
  const found = executors.filter((agent) => agent !== undefined);
  const most = limits.inboxItemsPerSession - (session?.seq ?? 0);
  if (tasks.length <= most) return new Map(found.map(({ name }) => [name, most]));
  const open = await Promise.all(found.map(({ name }) => countTodos(workspace, name, sessionDigest(session_id))));
  return new Map(found.map(({ name }, index) => [name, limits.inboxItemsPerSession - (open[index] ?? 0)]));
}

function takePlace(task: Judged["task"], executor: Agent, places: Map<string, number>): Judged {
  const left = places.get(executor.name) ?? 0;
  if (left <= 0)
    return {
      task,
      refused: `${executor.name} has ${limits.inboxItemsPerSession} open messages in this session; assign it later.`,
    };
  places.set(executor.name, left - 1);
  return { task, executor };
}
