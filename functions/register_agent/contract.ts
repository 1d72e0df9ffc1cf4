import * as z from "zod";
import { defineContract } from "../_runtime/contract.ts";
import { agentName, envelope } from "../_runtime/fields.ts";
import { deliveries, returned, roles } from "../_runtime/states.ts";

export const contract = defineContract({
  name: "register_agent",
  title: "Register agent",
  displayName: "Register Agent",
  description:
    "Enters an agent in the directory, or updates it when the name is there in the same spelling; fields that are left out get their defaults. " +
    "Use it once before an agent takes part, and again to change its role, skills or delivery, or to rotate its webhook secret. " +
    "Delivery inbox: the agent fetches its messages with receive_messages. Delivery webhook: they are posted to webhook_url, signed with " +
    "webhook_secret, which is shown only when it is made and when it is rotated.",
  version: "1.0.0",
  type: "function",
  category: "Agent collaboration",
  group: "agent",
  main: "./index.js",
  riskLevel: "low",
  // A repeat with rotate_secret makes yet another secret.
  idempotent: false,
  sideEffect: "internal",
  requiresApproval: false,
  permissions: ["agent:admin"],
  audience: "agent",
  speaker: "agent_name",
  secrets: ["webhook_secret"],
  input: z.strictObject({
    agent_name: agentName(
      "Name of the agent: its unique English id, a letter followed by up to 63 letters, digits, _ or -. Upper and lower case count as the same.",
    ),
    role: z
      .enum(roles)
      .describe("master: guides, cannot be called or assigned work. director: assigns work. member: does work."),
    display_name: z
      .string()
      .max(200)
      .default("")
      .meta({ "x-text": "name", description: "Name shown to people, in any script." }),
    skills: z
      .array(z.string().min(1).max(64).meta({ "x-text": "name" }))
      .max(50)
      .default([])
      .describe("What the agent can do, one name per skill; list_agents finds it by these."),
    delivery: z.enum(deliveries).default("inbox").describe("How the agent gets its messages."),
    webhook_url: z
      .string()
      .max(2048)
      .default("")
      .describe("URL that messages are posted to, HTTPS on port 443; needed for delivery webhook, and only then."),
    answer_timeout_s: z
      .int()
      .min(1)
      .max(120)
      .default(60)
      .describe(
        "Seconds that a delivery waits for the webhook's answer, from 1 to 120. A slower agent answers 202 first.",
      ),
    rotate_secret: z
      .boolean()
      .default(false)
      .describe("true makes a new webhook secret; for 24 hours deliveries are signed by the old one too."),
  }),
  output: z.strictObject({
    ...envelope,
    agent_name: z.string().default("").describe("Name of the agent."),
    role: returned(roles).describe("Role of the agent."),
    display_name: z.string().default("").describe("Name shown to people."),
    skills: z.array(z.string()).default([]).describe("What the agent can do."),
    delivery: returned(deliveries).describe("How the agent gets its messages."),
    webhook_url: z.string().default("").describe("URL that messages are posted to."),
    answer_timeout_s: z.int().min(0).default(0).describe("Seconds that a delivery waits for the webhook's answer."),
    webhook_secret: z
      .string()
      .default("")
      .describe("Secret that verifies webhooks (Standard Webhooks); empty except when it was just made or rotated."),
    secret_version: z.int().min(0).default(0).describe("Counts the rotations of the secret, from 1."),
    created: z.boolean().default(false).describe("true when the agent is new, false when it was updated."),
  }),
  errorModel: {
    IDENTITY_MISMATCH:
      "Your key may not speak for this agent. Put your own agent name in agent_name, or ask the operator for another key.",
    AGENT_NAME_TAKEN:
      "An agent has this name in another spelling. Use its exact spelling to update it, or another name for a new agent.",
    WEBHOOK_REFUSED:
      "Messages may not be posted to this webhook_url. Give a public HTTPS address on port 443, or use delivery inbox.",
  },
  examples: [
    {
      input: {
        agent_name: "writer",
        role: "member",
        display_name: "文案写手",
        skills: ["copywriting", "翻译"],
        delivery: "webhook",
        webhook_url: "https://agents.example.com/writer",
      },
      output: {
        code: 0,
        msg: "",
        agent_name: "writer",
        role: "member",
        display_name: "文案写手",
        skills: ["copywriting", "翻译"],
        delivery: "webhook",
        webhook_url: "https://agents.example.com/writer",
        answer_timeout_s: 60,
        webhook_secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        secret_version: 1,
        created: true,
      },
    },
  ],
  locales: {
    "zh-CN": {
      title: "注册智能体",
      description:
        "在目录中登记一个智能体；同名（大小写一致）时则更新，未填写的字段恢复默认值。智能体首次参与协作前调用一次，之后需要修改角色、技能、" +
        "投递方式或更换 webhook 密钥时再次调用。投递方式为 inbox 时，智能体用 receive_messages 收取消息；为 webhook 时，消息以 POST 发送到 " +
        "webhook_url，并用 webhook_secret 签名。密钥只在创建和更换时返回一次。触发关键词：注册智能体、登记智能体、修改智能体资料",
      category: "智能体协作",
      input: {
        agent_name: "智能体名称（英文名，唯一标识），以字母开头，其后最多 63 个字母、数字、_ 或 -，不区分大小写",
        role: "角色。master：行动指导员，不能被呼叫或分配工作；director：总监，可以分配工作；member：成员，执行工作",
        display_name: "显示名称，可用任何文字",
        skills: "技能列表，每项一个技能名，供 list_agents 查找",
        delivery: "消息投递方式：inbox（收件箱）或 webhook",
        webhook_url: "接收消息的地址，须为 443 端口的 HTTPS；仅在投递方式为 webhook 时填写",
        answer_timeout_s: "投递时等待 webhook 应答的秒数，1 到 120，默认 60；更慢的智能体应先应答 202",
        rotate_secret: "为 true 时生成新的 webhook 密钥，此后 24 小时内投递同时带有旧密钥的签名",
      },
      output: {
        code: "状态码",
        msg: "状态描述",
        agent_name: "智能体名称（英文名，唯一标识）",
        role: "角色",
        display_name: "显示名称",
        skills: "技能列表",
        delivery: "消息投递方式",
        webhook_url: "接收消息的地址",
        answer_timeout_s: "投递时等待 webhook 应答的秒数",
        webhook_secret: "验证 webhook 签名的密钥（Standard Webhooks），仅在创建或更换时返回，其余为空",
        secret_version: "密钥版本，从 1 开始，每次更换加一",
        created: "新注册为 true，更新已有智能体为 false",
      },
    },
  },
});
