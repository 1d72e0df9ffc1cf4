import * as z from "zod";
import { defineContract } from "../_runtime/contract.ts";
import { agentName, envelope, id, returnedFiles, text } from "../_runtime/fields.ts";
import { taskReturns, taskReturnsZh } from "../_runtime/task_schema.ts";

export const contract = defineContract({
  name: "update_task",
  title: "Update task",
  displayName: "Update Task",
  description:
    "Says how a task that was assigned to you stands. Use it when you start (running), now and then while you work, and when the task is " +
    "done, has failed, or is not for you (rejected). Each update moves the task's deadline on; done, failed and rejected end it. " +
    "The leader gets one report when all tasks of the assignment have ended. Texts are at most 64 KiB.",
  version: "1.0.0",
  type: "function",
  category: "Agent collaboration",
  group: "agent",
  main: "./index.js",
  riskLevel: "medium",
  // Each update moves the deadline on.
  idempotent: false,
  sideEffect: "external",
  requiresApproval: false,
  permissions: ["task:update"],
  audience: "agent",
  speaker: "executor",
  input: z.strictObject({
    task_id: id("Id of the task, from the message."),
    executor: agentName("Name of the agent that the task was assigned to: your own agent name (English)."),
    status: z.enum(["running", "done", "failed", "rejected"]).describe("How the task stands now."),
    detailed: text("Progress, result or reason; Markdown is allowed. At most 64 KiB in UTF-8.").default(""),
    files: returnedFiles("Paths or links of the files that you made or changed. At most 64 KiB together.").default([]),
  }),
  output: z.strictObject({ ...envelope, ...taskReturns }),
  errorModel: {
    IDENTITY_MISMATCH: "Your key may not speak for this executor. Put your own agent name in executor.",
    TASK_NOT_FOUND:
      "There is no such task, or it was assigned to another agent. Take task_id from the message exactly as it stands there.",
    TASK_CLOSED: "The task has already ended. Do not work on it any more; get_project says how it ended.",
    CONTENT_TOO_LARGE:
      "The text or the file list is over 64 KiB. Shorten it, or put large material in a file and name its path.",
  },
  examples: [
    {
      input: {
        task_id: "task_p3Vd8rKq0LzXy5WnB7mTcA_1764500000000_005f2c9a1be0",
        executor: "writer",
        status: "done",
        detailed: "首页文案已写好。",
        files: ["docs/home.md"],
      },
      output: {
        code: 0,
        msg: "",
        task_id: "task_p3Vd8rKq0LzXy5WnB7mTcA_1764500000000_005f2c9a1be0",
        assignment_id: "asg_p3Vd8rKq0LzXy5WnB7mTcA_1764500000000_015f2c9a1be0",
        session_id: "s-1",
        user_name: "alice",
        leader: "lead",
        project_name: "官网改版",
        task_name: "首页文案",
        executor: "writer",
        status: "done",
        detailed: "首页文案已写好。",
        files: ["docs/home.md"],
        deadline_at: "2026-12-01T09:15:02.481Z",
      },
    },
  ],
  locales: {
    "zh-CN": {
      title: "更新任务",
      description:
        "汇报分配给你的任务的进展。开始时（running）、执行过程中、以及完成（done）、失败（failed）或不应由你做（rejected）时调用。" +
        "每次更新都会顺延任务的截止时间；done、failed、rejected 表示任务结束。一次分配的全部任务结束后，负责人会收到一份报告。每段文本最多 64 KiB。" +
        "触发关键词：更新任务、汇报进展、任务完成",
      category: "智能体协作",
      input: {
        task_id: "任务ID，取自收到的消息",
        executor: "任务负责人，填写你的名称（英文名）。",
        status: "任务状态。running：进行中；done：完成；failed：失败；rejected：拒绝",
        detailed: "进展、完成结果或原因，支持Markdown格式，最多 64 KiB（UTF-8）",
        files: "你新建或修改的文件路径或链接清单，合计最多 64 KiB",
      },
      output: { code: "状态码", msg: "状态描述", ...taskReturnsZh },
    },
  },
});
