import * as z from "zod";
import { defineContract } from "../_runtime/contract.ts";
import { deadlineS, envelope, seedRequired, sessionId } from "../_runtime/fields.ts";
import { taskStates } from "../_runtime/states.ts";
import { workInput, workInputZh } from "../_runtime/work_schema.ts";

export const contract = defineContract({
  name: "assign_agent_work",
  title: "Assign agent work",
  displayName: "Assign Agent Work",
  description:
    "Hands out work to other agents, who do it together. Not to a master agent, nor to the agent you are talking with now. " +
    "Only for master and director agents. Use it to assign work, arrange tasks, hand out jobs to agents. " +
    "It answers at once: each task is accepted or rejected on its own, see its status and detailed. " +
    "When all have ended the leader gets one report; get_project shows progress until then. At most 40 tasks, each text at most 64 KiB.",
  version: "1.0.0",
  type: "function",
  category: "Agent collaboration",
  group: "agent",
  main: "./index.js",
  riskLevel: "medium",
  idempotent: false,
  sideEffect: "external",
  requiresApproval: false,
  permissions: ["task:assign"],
  audience: "agent",
  speaker: "leader",
  defaultWaitS: 0,
  input: z.strictObject({
    session_id: sessionId("Session id: the conversation that this work belongs to. A new id starts a new session."),
    ...workInput,
    deadline_s: deadlineS(
      "Seconds until a task that nobody updates ends as timed out, from 1 to 2592000. Default 86400 (24 hours).",
    ),
  }),
  output: z.strictObject({
    ...envelope,
    session_id: z.string().default("").describe("Session id."),
    user_name: seedRequired(z.string().describe("Name of the user being served (unique English name).")),
    leader: seedRequired(z.string().default("").describe("Name of the leader: normally you.")),
    project_name: z.string().default("").describe("Project name."),
    tasks: z
      .array(
        z.strictObject({
          name: z.string().describe("Task name."),
          status: z.enum(taskStates).describe("Status of the task; rejected when it was not accepted."),
          detailed: z.string().describe("Result so far, or why the task was rejected."),
          task_id: z
            .string()
            .default("")
            .describe("Id of the task, for update_task and cancel_task; empty when it was rejected."),
          executor: z.string().default("").describe("Name of the agent that the task is for."),
        }),
      )
      .default([])
      .describe("Each task and how it stands, in the order of the input."),
    assignment_id: z.string().default("").describe("Id of this assignment, for get_project."),
  }),
  additions: { input: ["deadline_s"], output: ["assignment_id", "tasks[].task_id", "tasks[].executor"] },
  errorModel: {
    LEADER_NOT_FOUND: "The leader is not a registered agent. Register it with register_agent, then assign again.",
    IDENTITY_MISMATCH: "Your key may not speak for this leader. Put your own agent name in leader.",
    NOT_A_LEADER:
      "Only master and director agents assign work. Ask your director to do it, or use call_agent to ask an agent for help.",
    SESSION_USER_MISMATCH: "This session belongs to another user. Use this user's own session id, or a new one.",
    CONTENT_TOO_LARGE: "A text is over 64 KiB. Shorten it, or put large material in a file and name its path.",
  },
  examples: [
    {
      input: {
        session_id: "s-1",
        user_name: "alice",
        leader: "lead",
        content: "官网改版开始了，请在今天内完成。",
        project_name: "官网改版",
        tasks: [
          { name: "首页文案", executor: "writer", content: "写两句首页文案。" },
          { name: "首页样式", executor: "coach", content: "调整首页样式。" },
        ],
      },
      output: {
        code: 0,
        msg: "1 of 2 tasks accepted.",
        session_id: "s-1",
        user_name: "alice",
        leader: "lead",
        project_name: "官网改版",
        tasks: [
          {
            name: "首页文案",
            status: "assigned",
            detailed: "",
            task_id: "task_p3Vd8rKq0LzXy5WnB7mTcA_1764500000000_005f2c9a1be0",
            executor: "writer",
          },
          {
            name: "首页样式",
            status: "rejected",
            detailed: "coach is a master; a master cannot be assigned work.",
            task_id: "",
            executor: "coach",
          },
        ],
        assignment_id: "asg_p3Vd8rKq0LzXy5WnB7mTcA_1764500000000_015f2c9a1be0",
      },
    },
  ],
  locales: {
    "zh-CN": {
      title: "分配智能体工作",
      description:
        "分配工作给其他智能体协作完成，不能分配给master和当前对话智能体。仅限master和总监类智能体使用。触发关键词：分配工作、安排任务、派活给智能体",
      category: "智能体协作",
      input: {
        session_id: "会话ID",
        ...workInputZh,
        deadline_s: "任务无人更新时的截止时间（秒），1 到 2592000，默认 86400（24 小时）。",
      },
      output: {
        code: "状态码",
        msg: "状态描述",
        session_id: "会话ID",
        user_name: "当前对话的用户名（英文名，唯一标识）",
        leader: "负责人名称，一般情况下为接收者名称（英文名）",
        project_name: "项目名",
        tasks: "任务完成情况列表",
        "tasks[].name": "任务名",
        "tasks[].status": "任务状态。",
        "tasks[].detailed": "完成的详细情况。",
        "tasks[].task_id": "任务ID，供 update_task 和 cancel_task 使用，被拒绝的任务为空。",
        "tasks[].executor": "任务负责人（英文名）。",
        assignment_id: "本次分配的ID，供 get_project 使用。",
      },
    },
  },
});
