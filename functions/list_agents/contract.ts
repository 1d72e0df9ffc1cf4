import * as z from "zod";
import { defineContract } from "../_runtime/contract.ts";
import { cursor, envelope, nextCursor } from "../_runtime/fields.ts";
import { deliveries, roles } from "../_runtime/states.ts";

export const contract = defineContract({
  name: "list_agents",
  title: "List agents",
  displayName: "List Agents",
  description:
    "Lists the registered agents with role, skills and whether each is busy or idle. Use it to find out whom to call or to assign work to, " +
    "by role or by skill. At most 50 agents per page, in the order of their names. The list may lag behind by a moment: " +
    "get_agent_status says exactly what one agent is doing now.",
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
    role: z.enum(roles).optional().describe("Only agents of this role; leave it out for all."),
    skill: z
      .string()
      .max(64)
      .default("")
      .meta({ "x-text": "name", description: "Only agents with exactly this skill; empty for all." }),
    cursor,
    limit: z.int().min(1).max(50).default(20).describe("Agents per page, from 1 to 50."),
  }),
  output: z.strictObject({
    ...envelope,
    agents: z
      .array(
        z.strictObject({
          agent_name: z.string().describe("Name of the agent (unique English name)."),
          display_name: z.string().describe("Name shown to people."),
          role: z.enum(roles).describe("Role of the agent."),
          skills: z.array(z.string()).describe("What the agent can do."),
          delivery: z.enum(deliveries).describe("How the agent gets its messages."),
          status: z.enum(["busy", "idle"]).describe("busy: it has open todos. idle: it has none."),
          last_seen_at: z
            .string()
            .describe("When the agent last answered or fetched messages (ISO 8601, UTC); empty when never."),
          last_delivery_error: z
            .string()
            .describe("Why the last delivery to its webhook failed; empty when the last one succeeded."),
        }),
      )
      .default([])
      .describe("The agents of this page."),
    next_cursor: nextCursor,
  }),
  errorModel: {
    INVALID_CURSOR: "The cursor is not one that this tool gave out. Leave cursor out to start with the first page.",
  },
  examples: [
    {
      input: { skill: "翻译" },
      output: {
        code: 0,
        msg: "",
        agents: [
          {
            agent_name: "writer",
            display_name: "文案写手",
            role: "member",
            skills: ["copywriting", "翻译"],
            delivery: "webhook",
            status: "idle",
            last_seen_at: "2026-11-30T09:15:02.481Z",
            last_delivery_error: "",
          },
        ],
        next_cursor: "",
      },
    },
  ],
  locales: {
    "zh-CN": {
      title: "列出智能体",
      description:
        "列出已注册的智能体及其角色、技能和闲忙状态。需要确定呼叫谁、把工作分配给谁时调用，可按角色或技能查找。每页最多 50 个，按名称排序。" +
        "列表可能稍有延迟，某个智能体此刻的准确状态请用 get_agent_status 查询。触发关键词：有哪些智能体、谁有空、查找智能体",
      category: "智能体协作",
      input: {
        role: "只列出该角色（master、director 或 member）的智能体，不填则列出全部",
        skill: "只列出具备该技能的智能体（完全匹配），为空则列出全部",
        cursor: "上一页返回的 next_cursor，首页为空",
        limit: "每页数量，1 到 50，默认 20",
      },
      output: {
        code: "状态码",
        msg: "状态描述",
        agents: "本页的智能体列表",
        "agents[].agent_name": "智能体名称（英文名，唯一标识）",
        "agents[].display_name": "显示名称",
        "agents[].role": "角色",
        "agents[].skills": "技能列表",
        "agents[].delivery": "消息投递方式",
        "agents[].status": "闲忙状态。busy：有待办；idle：没有待办",
        "agents[].last_seen_at": "最近一次应答或收取消息的时间（ISO 8601，UTC），从未有过则为空",
        "agents[].last_delivery_error": "最近一次投递到 webhook 失败的原因，成功则为空",
        next_cursor: "取下一页时作为 cursor 传入，最后一页为空",
      },
    },
  },
});
