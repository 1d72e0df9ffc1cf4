import * as z from "zod";
import { defineContract } from "../_runtime/contract.ts";
import { agentName, envelope, requestedFile, seedRequired, userName } from "../_runtime/fields.ts";

export const contract = defineContract({
  name: "get_agent_status",
  title: "Get agent status",
  displayName: "Get Agent Status",
  description:
    "Returns what an agent is working on for a user: project, task, open todos, files and project root directory. " +
    "Call it before starting work, or to see whether an agent is free: any todo means busy, none means idle.",
  version: "1.0.0",
  type: "function",
  category: "Agent collaboration",
  group: "agent",
  main: "./index.js",
  riskLevel: "low",
  idempotent: true,
  sideEffect: "none",
  requiresApproval: false,
  permissions: ["agent:read"],
  audience: "agent",
  input: z.strictObject({
    agent_name: agentName("Name of the agent (unique English name); your own name when you ask about yourself."),
    user_name: userName("Name of the user being served (unique English name)."),
  }),
  output: z.strictObject({
    ...envelope,
    agent_name: seedRequired(agentName("Name of the agent (unique English name).")),
    user_name: seedRequired(z.string().describe("Name of the user being served (unique English name).")),
    session_id: z.string().default("").describe("Session of the work in hand."),
    project_name: z.string().default("").describe("Project of the work in hand."),
    task_name: z.string().default("").describe("Task in hand."),
    todos: z
      .array(z.string())
      .default([])
      .describe(
        "Open todos, running ones first, then the oldest; after 200, how many more there are. Any todo means busy, none means idle.",
      ),
    files: z
      .array(requestedFile)
      .default([])
      .describe("Files that the user asked for and that this agent is to work on."),
    project_root_dir: z.string().describe("Root directory of the project."),
  }),
  errorModel: {
    AGENT_NOT_FOUND: "No agent has this name. Use one of the near matches, or list_agents to see who is there.",
  },
  examples: [
    {
      input: { agent_name: "writer", user_name: "alice" },
      output: {
        code: 0,
        msg: "",
        agent_name: "writer",
        user_name: "alice",
        session_id: "s-1",
        project_name: "website",
        task_name: "home page",
        todos: ["website/home page", "reply to lead"],
        files: [{ name: "home.md", demand: "Copy for the home page", file: "docs/home.md" }],
        project_root_dir: "/srv/website",
      },
    },
  ],
  locales: {
    "zh-CN": {
      title: "获取智能体工作状态",
      description:
        "智能体干活前调用该工具，获取当前所做项目、任务、待办事项、项目根目录等，方便展开工作和查询闲忙状态。有代办就是忙，没有就是闲",
      category: "智能体协作",
      input: {
        agent_name: "智能体名称（英文名，唯一标识），填写智能体自己的名称",
        user_name: "用户名（英文名，唯一标识）,填写当前服务对象的用户名",
      },
      output: {
        code: "状态码",
        msg: "状态描述",
        agent_name: "智能体名称（英文名，唯一标识），智能体自己的名称",
        user_name: "用户名（英文名，唯一标识）,当前服务对象的用户名",
        session_id: "会话ID",
        project_name: "项目名",
        task_name: "任务名",
        todos: "待办任务列表。有待办就是忙状态，没有待办就是闲状态",
        files: "文件清单，用户明确指定需要的文件，当前智能体需要处理的文件。",
        "files[].name": "文件名",
        "files[].demand": "文件需求描述",
        "files[].file": "文件路径",
        project_root_dir: "项目根目录",
      },
    },
  },
});
