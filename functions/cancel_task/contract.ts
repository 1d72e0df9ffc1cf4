import * as z from "zod";
import { defineContract } from "../_runtime/contract.ts";
import { agentName, envelope, id, text } from "../_runtime/fields.ts";
import { taskReturns, taskReturnsZh } from "../_runtime/task_schema.ts";

export const contract = defineContract({
  name: "cancel_task",
  title: "Cancel task",
  displayName: "Cancel Task",
  description:
    "Withdraws a task that you assigned and that has not ended: it leaves the executor's todos, an executor that has it already is told, and later updates are refused. " +
    "Use it when the work is no longer needed or is to go to another agent. When it was the last open task of its assignment, " +
    "the assignment's report is sent. Texts are at most 64 KiB.",
  version: "1.0.0",
  type: "function",
  category: "Agent collaboration",
  group: "agent",
  main: "./index.js",
  riskLevel: "medium",
  idempotent: true,
  sideEffect: "external",
  requiresApproval: false,
  permissions: ["task:assign"],
  audience: "agent",
  speaker: "leader",
  input: z.strictObject({
    task_id: id("Id of the task, from assign_agent_work or get_project."),
    leader: agentName("Name of the agent that assigned the task: your own agent name (English)."),
    reason: text("Why the task is withdrawn; becomes its detailed. At most 1,000 characters.").max(1_000).default(""),
  }),
  output: z.strictObject({ ...envelope, ...taskReturns }),
  errorModel: {
    IDENTITY_MISMATCH: "Your key may not speak for this leader. Put your own agent name in leader.",
    TASK_NOT_FOUND:
      "There is no such task, or this agent did not assign it. Check task_id and leader; get_project lists the tasks of a project.",
    TASK_CLOSED: "The task has already ended, so there is nothing to withdraw. Use get_project to see how it ended.",
  },
  examples: [
    {
      input: {
        task_id: "task_p3Vd8rKq0LzXy5WnB7mTcA_1764500000000_005f2c9a1be0",
        leader: "lead",
        reason: "首页改由设计师负责。",
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
        status: "cancelled",
        detailed: "首页改由设计师负责。",
        files: [],
        deadline_at: "2026-12-01T09:15:02.481Z",
      },
    },
  ],
  locales: {
    "zh-CN": {
      title: "取消任务",
      description:
        "撤回你分配的、尚未结束的任务：不再是执行者的待办，已收到它的执行者会得到通知，之后的更新会被拒绝。不再需要该工作，或要改派给其他智能体时调用。" +
        "若它是该次分配中最后一个未结束的任务，会随即发出该次分配的报告。每段文本最多 64 KiB。触发关键词：取消任务、撤回任务、改派任务",
      category: "智能体协作",
      input: {
        task_id: "任务ID，取自 assign_agent_work 或 get_project 的返回值",
        leader: "负责人名称，即分配该任务的智能体，填写你的名称（英文名）。",
        reason: "撤回的原因，成为任务的详细情况，最多 64 KiB（UTF-8）",
      },
      output: { code: "状态码", msg: "状态描述", ...taskReturnsZh },
    },
  },
});
