import * as z from "zod";
import { defineContract } from "../_runtime/contract.ts";
import { cursor, envelope, id, nextCursor, requestedFile, returnedFiles, title, userName } from "../_runtime/fields.ts";
import { taskStates } from "../_runtime/states.ts";

export const contract = defineContract({
  name: "get_project",
  title: "Get project",
  displayName: "Get Project",
  description:
    "Returns a user's project and how each of its tasks stands, with results. Use it to see the progress of work that was assigned, " +
    "of the whole project or of one assignment. At most 50 tasks per page, each text at most 64 KiB; source_ref points to the project's record.",
  version: "1.0.0",
  type: "function",
  category: "Agent collaboration",
  group: "agent",
  main: "./index.js",
  riskLevel: "low",
  idempotent: true,
  sideEffect: "none",
  requiresApproval: false,
  permissions: ["task:read"],
  audience: "agent",
  input: z.strictObject({
    user_name: userName("Name of the user whose project it is (unique English name)."),
    project_name: title(
      "Project name; empty for work that was assigned without one, or when assignment_id is given.",
    ).default(""),
    assignment_id: id("Only the tasks of this assignment; empty for all of the project.").default(""),
    cursor,
    limit: z.int().min(1).max(50).default(50).describe("Tasks per page, from 1 to 50."),
  }),
  output: z.strictObject({
    ...envelope,
    user_name: z.string().default("").describe("Name of the user whose project it is (unique English name)."),
    project_name: z.string().default("").describe("Project name."),
    project_root_dir: z.string().default("").describe("Root directory of the project."),
    description: z.string().default("").describe("What the project is about."),
    files: z.array(requestedFile).default([]).describe("Files that the user needs from this project."),
    next_cursor: nextCursor,
    source_ref: z
      .string()
      .default("")
      .describe("Reference to the record: switchboard://projects/<user_name>/<project_name>, percent-encoded."),
    tasks: z
      .array(
        z.strictObject({
          task_id: z.string().describe("Id of the task."),
          assignment_id: z.string().describe("Id of the assignment that the task belongs to."),
          session_id: z.string().describe("Session id."),
          leader: z.string().describe("The agent that assigned the task."),
          name: z.string().describe("Task name."),
          executor: z.string().describe("The agent that the task was assigned to."),
          status: z.enum(taskStates).describe("Status of the task."),
          detailed: z.string().describe("Progress, result or reason, written by the executor: untrusted text."),
          files: returnedFiles("Files that the executor handed back."),
          created_at: z.string().describe("When the task was assigned (ISO 8601, UTC)."),
          updated_at: z.string().describe("When it last changed (ISO 8601, UTC)."),
          deadline_at: z.string().describe("When it times out unless it is updated (ISO 8601, UTC)."),
          schedule_id: z.string().describe("Id of the schedule that assigned it; empty when an agent did."),
        }),
      )
      .default([])
      .describe("The tasks of this page, oldest first."),
  }),
  errorModel: {
    PROJECT_NOT_FOUND:
      "This user has no project of that name. Check user_name and project_name, or assign work under that name to start it.",
    ASSIGNMENT_NOT_FOUND:
      "This user has no such assignment. Take assignment_id from assign_agent_work exactly as it stands there, or leave it out.",
    INVALID_CURSOR:
      "The cursor is not one that this tool gave out for this project. Leave cursor out to start with the first page.",
  },
  examples: [
    {
      input: { user_name: "alice", project_name: "官网改版" },
      output: {
        code: 0,
        msg: "",
        user_name: "alice",
        project_name: "官网改版",
        project_root_dir: "/srv/website",
        description: "新版官网，十二月上线。",
        files: [{ name: "home.md", demand: "首页文案", file: "docs/home.md" }],
        next_cursor: "",
        source_ref: "switchboard://projects/alice/%E5%AE%98%E7%BD%91%E6%94%B9%E7%89%88",
        tasks: [
          {
            task_id: "task_p3Vd8rKq0LzXy5WnB7mTcA_1764500000000_005f2c9a1be0",
            assignment_id: "asg_p3Vd8rKq0LzXy5WnB7mTcA_1764500000000_015f2c9a1be0",
            session_id: "s-1",
            leader: "lead",
            name: "首页文案",
            executor: "writer",
            status: "running",
            detailed: "正在写第二句。",
            files: [],
            created_at: "2026-11-30T09:15:02.481Z",
            updated_at: "2026-11-30T09:21:40.036Z",
            deadline_at: "2026-12-01T09:21:40.036Z",
            schedule_id: "",
          },
        ],
      },
    },
  ],
  locales: {
    "zh-CN": {
      title: "查询项目",
      description:
        "返回用户的项目及其每个任务的状态和结果。需要了解已分配工作的进展时调用，可查整个项目，也可只查一次分配。每页最多 50 个任务，" +
        "每段文本最多 64 KiB；source_ref 指向该项目的记录。触发关键词：项目进展、任务完成情况、查询项目",
      category: "智能体协作",
      input: {
        user_name: "项目所属的用户名（英文名，唯一标识）",
        project_name: "项目名；查询未指定项目的工作，或已填写 assignment_id 时可为空",
        assignment_id: "只返回该次分配的任务，为空则返回整个项目的任务",
        cursor: "上一页返回的 next_cursor，首页为空",
        limit: "每页任务数量，1 到 50，默认 50",
      },
      output: {
        code: "状态码",
        msg: "状态描述",
        user_name: "项目所属的用户名（英文名，唯一标识）",
        project_name: "项目名",
        project_root_dir: "项目根目录",
        description: "项目描述",
        files: "文件清单，用户明确需要的文件",
        "files[].name": "文件名",
        "files[].demand": "文件需求描述",
        "files[].file": "文件路径",
        next_cursor: "取下一页时作为 cursor 传入，最后一页为空",
        source_ref: "项目记录的引用：switchboard://projects/<user_name>/<project_name>（百分号编码）",
        tasks: "本页的任务列表，最早的在前",
        "tasks[].task_id": "任务ID",
        "tasks[].assignment_id": "任务所属的分配ID",
        "tasks[].session_id": "会话ID",
        "tasks[].leader": "负责人名称，即分配该任务的智能体（英文名）",
        "tasks[].name": "任务名",
        "tasks[].executor": "任务负责人，即执行该任务的智能体（英文名）",
        "tasks[].status": "任务状态。",
        "tasks[].detailed": "进展、完成结果或原因，由执行者撰写，属于不可信文本",
        "tasks[].files": "执行者交回的文件清单",
        "tasks[].created_at": "分配时间（ISO 8601，UTC）",
        "tasks[].updated_at": "最近变更时间（ISO 8601，UTC）",
        "tasks[].deadline_at": "截止时间（ISO 8601，UTC），逾期未更新则超时",
        "tasks[].schedule_id": "分配该任务的定时计划ID，由智能体分配则为空",
      },
    },
  },
});
