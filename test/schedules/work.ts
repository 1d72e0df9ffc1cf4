import { acts, unique } from "../acts.ts";
import type { TestSystem } from "../system.ts";

type Fields = Record<string, unknown>;

/** What tests of schedules do over and over. */
export function scheduling(system: TestSystem) {
  const { tool } = system;
  const { register, receive, update } = acts(tool);
  return {
    /** A leader, an executor, and a user whose project no other test knows. */
    team: async () => {
      const [leader, executor] = [await register("lead", { role: "director" }), await register("writer")];
      return { leader, executor, user_name: unique("alice"), project_name: "官网" };
    },
    /** Schedules one task, far away from now unless told otherwise. */
    plan: async (
      { leader, executor, ...names }: { leader: string; executor: string } & Fields,
      more: Fields = {},
      options: { key?: string; headers?: Record<string, string> } = {},
    ) => {
      const tasks = [{ name: "简报", executor, content: "Write." }];
      const input = { name: "每日简报", schedule: "cron(0 9 1 1 ? *)", leader, content: "Good morning.", tasks };
      return tool("schedule_agent_work", { ...input, ...names, ...more }, options);
    },
    /** What EventBridge Scheduler does when a run is due. */
    fire: (schedule_id: string, scheduled_time: string, workspace = "local") =>
      system.functions.runSchedule({ workspace, schedule_id, scheduled_time } as never),
    tasksOf: async (user_name: string, project_name = "官网") =>
      (await tool("get_project", { user_name, project_name })).body.tasks ?? [],
    listed: async (leader: string) => (await tool("list_schedules", { leader, all: true })).body.schedules,
    finish: async (executor: string) => {
      const { messages } = (await receive(executor)).body;
      for (const { task_id } of messages) await update(task_id, executor, "done", { detailed: "Done." });
    },
  };
}
