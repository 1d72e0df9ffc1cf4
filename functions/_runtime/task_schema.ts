import * as z from "zod";
import { returnedFiles } from "./fields.ts";
import { returned, taskStates } from "./states.ts";

/** What update_task and cancel_task answer: the task as it is now. */
export const taskReturns = {
  task_id: z.string().default("").describe("Id of the task."),
  assignment_id: z.string().default("").describe("Id of the assignment that the task belongs to."),
  session_id: z.string().default("").describe("Session id."),
  user_name: z.string().default("").describe("Name of the user being served (unique English name)."),
  leader: z.string().default("").describe("The agent that assigned the task."),
  project_name: z.string().default("").describe("Project name."),
  task_name: z.string().default("").describe("Task name."),
  executor: z.string().default("").describe("The agent that the task was assigned to."),
  status: returned(taskStates).describe("Status of the task; empty when it is not known."),
  detailed: z.string().default("").describe("Progress, result or reason. At most 64 KiB."),
  files: returnedFiles("Files that the executor handed back.").default([]),
  deadline_at: z.string().default("").describe("When the task times out unless it is updated (ISO 8601, UTC)."),
};

/** The same in Chinese. */
export const taskReturnsZh = {
  task_id: "任务ID",
  assignment_id: "任务所属的分配ID",
  session_id: "会话ID",
  user_name: "当前对话的用户名（英文名，唯一标识）",
  leader: "负责人名称，即分配该任务的智能体（英文名）",
  project_name: "项目名",
  task_name: "任务名",
  executor: "任务负责人，即执行该任务的智能体（英文名）",
  status:
    "任务状态（assigned 已分配、running 进行中、done 完成、failed 失败、rejected 拒绝、cancelled 已取消、timed_out 超时），未知时为空",
  detailed: "进展、完成结果或原因，最多 64 KiB",
  files: "执行者交回的文件清单",
  deadline_at: "任务的截止时间（ISO 8601，UTC），逾期未更新则超时",
};
