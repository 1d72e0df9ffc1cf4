import { limits } from "../../functions/_runtime/limits.ts";
import { acts, unique } from "../acts.ts";
import type { ToolClient } from "../tool_client.ts";
import { type Cost, costOf } from "./account.ts";
import { addHistory, type History, lastFullHour } from "./history.ts";
import type { Ledger } from "./ledger.ts";
import { type Summary, summary } from "./statistics.ts";

/** What a tool costs with so many items behind it. */
export interface GrowthFigure {
  tool: string;
  items: number;
  cost: Cost;
  time: Summary;
}

const content = "What we do, and for whom.";

/** Agents, a session and a project, with ever more that has happened to them. */
export async function newHistory(tool: ToolClient): Promise<History> {
  const { register, call, assign, update } = acts(tool);
  const [sender, receiver] = [await register("lead", { role: "director" }), await register("writer")];
  const history = { session_id: unique("s"), project_name: unique("site"), sender, receiver };
  const { session_id, project_name } = history;
  await ageSession(session_id);
  const { body } = await call({ session_id, sender, receiver, content });
  const tasks = [{ name: "text", executor: receiver, content }];
  const assigned = await assign({ session_id, project_name, leader: sender, tasks });
  await update(String(assigned.body.tasks[0]?.task_id), receiver, "running");
  return { ...history, call_id: body.call_id, audit_hour: lastFullHour() };
}

/** As if the session had had so many messages that a receiver's open ones are counted: else it comes to that in between. */
async function ageSession(sessionId: string): Promise<void> {
  const { takeSequence } = await import("../../functions/_table/sessions.ts");
  await takeSequence("local", { sessionId, userName: "alice", count: limits.inboxItemsPerSession });
}

/** Uses that find their way past all that has ended. */
function usesOf(
  tool: ToolClient,
  { session_id, project_name, sender, receiver, call_id, audit_hour }: History,
): Record<string, () => Promise<unknown>> {
  const { call, statusOf } = acts(tool);
  return {
    get_agent_status: () => statusOf(receiver),
    get_call: () => tool("get_call", { call_id, agent_name: sender }),
    get_project: () => tool("get_project", { user_name: "alice", project_name, limit: 5 }),
    list_agents: () => tool("list_agents", { limit: 5 }),
    list_audit_events: () => tool("list_audit_events", { ...wholeHour(audit_hour), limit: 5 }),
    call_agent: async () => (await call({ session_id, sender, receiver, content })).body,
  };
}

/** From an hour's first to its last instant. */
export const wholeHour = (hour: number) => ({
  from: new Date(hour).toISOString(),
  to: new Date(hour + 3_599_999).toISOString(),
});

interface Grown {
  ledger: Ledger;
  tool: ToolClient;
  history: History;
}

/** Adds history until `items` have ended, then counts what each tool costs and how long it takes. */
export async function growTo(items: number, { ledger, tool, history }: Grown, rounds: number): Promise<GrowthFigure[]> {
  await addHistory(history, items);
  const figures: GrowthFigure[] = [];
  for (const [name, use] of Object.entries(usesOf(tool, history))) {
    const account = await ledger.during(use);
    await undo(tool, history, account.result);
    const times: number[] = [];
    const warmUp = Math.min(rounds, 10);
    for (let round = -warmUp; round < rounds; round++) {
      const start = performance.now();
      const answer = await use();
      if (round >= 0) times.push(performance.now() - start);
      await undo(tool, history, answer);
    }
    figures.push({ tool: name, items, cost: costOf(account), time: summary(times) });
  }
  return figures;
}

/** Withdraws a call that was made, so that the next use finds the inbox as this one did. */
async function undo(tool: ToolClient, { sender }: History, made: unknown): Promise<void> {
  const { call_id } = made as { call_id?: string };
  if (call_id !== undefined) await tool("cancel_call", { call_id, sender });
}
