import { unique } from "../acts.ts";
import type { McpClient } from "./clients.ts";

type Fields = Record<string, unknown>;

/** A step's tool, and its structured answer. */
export interface Step {
  tool: string;
  answer: Fields;
}

/**
 * A day at work, by MCP alone: agents register, call and reply, withdraw, hand out work, report, leave. Every tool
 * that it uses succeeds.
 * @throws {Error} with the model's text, when a tool refuses
 */
export async function playScenario({ call }: Pick<McpClient, "call">): Promise<Step[]> {
  const steps: Step[] = [];
  const step = async (tool: string, input: Fields, meta?: Fields): Promise<Fields> => {
    const { content, structuredContent = {}, isError } = await call(tool, input, meta);
    if (isError) throw new Error(`${tool}: ${content.map(({ text }) => text).join("\n")}`);
    steps.push({ tool, answer: structuredContent });
    return structuredContent;
  };
  const [lead, writer, project_name] = [unique("lead"), unique("writer"), unique("site")];
  const about = { session_id: unique("session"), user_name: "alice", project_name };

  await step("register_agent", { agent_name: lead, role: "director" });
  await step("register_agent", { agent_name: writer, role: "member", skills: [project_name] });
  await step("list_agents", { skill: project_name });
  await step("register_project", { user_name: "alice", project_name, project_root_dir: "/site" });

  const question = { ...about, sender: lead, receiver: writer, content: "Two sentences, please." };
  const { call_id } = await step("call_agent", question, { "switchboard/prefer": "respond-async" });
  await step("get_agent_status", { agent_name: writer, user_name: "alice" });
  await step("receive_messages", { agent_name: writer });
  await step("reply_call", { call_id, sender: writer, content: "Here they are." });
  await step("get_call", { call_id, agent_name: lead });
  const second = await step("call_agent", question, { "switchboard/prefer": "respond-async" });
  await step("cancel_call", { call_id: second.call_id, sender: lead });

  const tasks = ["home", "imprint"].map((name) => ({ name, executor: writer, content: "Write it." }));
  const assigned = await step("assign_agent_work", { ...about, leader: lead, content: "Please begin.", tasks });
  const [home, imprint] = (assigned.tasks as { task_id: string }[]).map(({ task_id }) => task_id);
  await step("update_task", { task_id: home, executor: writer, status: "done", detailed: "Written." });
  await step("cancel_task", { task_id: imprint, leader: lead });
  await step("get_project", { user_name: "alice", project_name });

  const later = { name: project_name, ...about, leader: lead, content: "Morning.", tasks };
  const planned = await step("schedule_agent_work", { ...later, schedule: "at(2090-01-01T09:00:00)" });
  await step("list_schedules", { leader: lead });
  await step("cancel_schedule", { schedule_id: planned.schedule_id, leader: lead });

  // The repository that acceptance tests read, see test/acceptance/repositories.test.ts.
  const repositoryId = "seeds";
  const { matches } = await step("search_code", { repositoryId, query: "read_file_range" });
  const [{ path, line }] = matches as [{ path: string; line: number }];
  await step("read_file_range", { repositoryId, path, startLine: line, endLine: line });

  await step("register_agent", { agent_name: unique("guest"), role: "member" });
  await step("remove_agent", { agent_name: String(steps.at(-1)?.answer.agent_name) });
  return steps;
}
