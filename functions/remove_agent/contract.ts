import * as z from "zod";
import { defineContract } from "../_runtime/contract.ts";
import { agentName, envelope } from "../_runtime/fields.ts";

export const contract = defineContract({
  name: "remove_agent",
  title: "Remove agent",
  displayName: "Remove Agent",
  description:
    "Takes an agent out of the directory, so that nobody can call it or assign it work any more. Use it when an agent is retired. " +
    "It is refused while the agent has open messages in its inbox. What the agent did stays on record, and it can be registered again.",
  version: "1.0.0",
  type: "function",
  category: "Agent collaboration",
  group: "agent",
  main: "./index.js",
  riskLevel: "low",
  idempotent: true,
  sideEffect: "internal",
  requiresApproval: false,
  permissions: ["agent:admin"],
  audience: "agent",
  speaker: "agent_name",
  input: z.strictObject({
    agent_name: agentName("Name of the agent to remove (unique English name)."),
  }),
  output: z.strictObject({
    ...envelope,
    agent_name: z.string().default("").describe("Name of the agent that was removed."),
  }),
  errorModel: {
    IDENTITY_MISMATCH:
      "Your key may not speak for this agent. Put your own agent name in agent_name, or ask the operator for another key.",
    AGENT_NOT_FOUND:
      "No agent has this name, so there is nothing to remove. Use one of the near matches, or list_agents to see who is there.",
    AGENT_HAS_MESSAGES:
      "The agent still has open messages. Answer its calls, end its tasks and acknowledge its notices (or have them cancelled), then remove it.",
  },
  examples: [{ input: { agent_name: "writer" }, output: { code: 0, msg: "", agent_name: "writer" } }],
  locales: {
    "zh-CN": {
      title: "移除智能体",
      description:
        "把一个智能体从目录中移除，此后不能再呼叫它或给它分配工作。智能体停用时调用。收件箱里还有未完结的消息时会被拒绝。" +
        "它做过的事仍保留记录，之后可以重新注册。触发关键词：移除智能体、注销智能体",
      category: "智能体协作",
      input: { agent_name: "要移除的智能体名称（英文名，唯一标识）" },
      output: { code: "状态码", msg: "状态描述", agent_name: "已移除的智能体名称（英文名，唯一标识）" },
    },
  },
});
