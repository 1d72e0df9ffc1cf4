import * as z from "zod";
import { agentName, text, title, userName } from "./fields.ts";
import { limits } from "./limits.ts";

/** The work that a leader hands out: at once, or whenever a schedule says so (seed 001). */
export const workInput = {
  user_name: userName("Name of the user being served in this conversation (unique English name)."),
  leader: agentName("Name of the leader (English): whoever calls this tool puts in its own agent name."),
  content: text("The message that goes with every task; Markdown is allowed. At most 64 KiB in UTF-8.").min(1),
  project_name: title("Project name; give it when you coordinate agents on a project.").default(""),
  tasks: z
    .array(
      z.strictObject({
        name: title("Task name.").min(1),
        executor: agentName("Name of the agent that is to do the task (English)."),
        content: text("What is to be done; Markdown is allowed. At most 64 KiB in UTF-8.").min(1),
      }),
    )
    .max(limits.tasksPerAssignment)
    .default([])
    .describe("The tasks to hand out, at most 40; give them when you coordinate agents on tasks."),
};

/** The same in Chinese. */
export const workInputZh = {
  user_name: "当前对话的用户名（英文名，唯一标识）, 即当前服务对象",
  leader: "负责人名称，填写智能体名称（英文名），谁调用此工具就填写谁。",
  content: "发送消息内容，支持Markdown格式",
  project_name: "项目名，协调智能体开展项目时传入。",
  tasks: "任务列表，协调智能体开展任务时传入。",
  "tasks[].name": "任务名",
  "tasks[].executor": "任务负责人。",
  "tasks[].content": "任务内容",
};
