import * as z from "zod";
import { defineContract } from "../_runtime/contract.ts";
import { agentName, envelope, id, text } from "../_runtime/fields.ts";
import { callStates, returned } from "../_runtime/states.ts";

export const contract = defineContract({
  name: "cancel_call",
  title: "Cancel call",
  displayName: "Cancel Call",
  description:
    "Withdraws a call of yours that has no reply yet: it leaves the receiver's todos, and a receiver that has it already is told. " +
    "Use it when you no longer need the answer. A reply that comes later is kept on the record of the call but not delivered.",
  version: "1.0.0",
  type: "function",
  category: "Agent collaboration",
  group: "agent",
  main: "./index.js",
  riskLevel: "medium",
  idempotent: true,
  sideEffect: "external",
  requiresApproval: false,
  permissions: ["agent:call"],
  audience: "agent",
  speaker: "sender",
  input: z.strictObject({
    call_id: id("Id of the call, from call_agent."),
    sender: agentName("Name of the agent that made the call: your own agent name (English)."),
    reason: text("Why the call is withdrawn; kept on its record and told to the receiver. At most 1,000 characters.")
      .max(1_000)
      .default(""),
  }),
  output: z.strictObject({
    ...envelope,
    call_id: z.string().default("").describe("Id of the call."),
    session_id: z.string().default("").describe("Session id."),
    user_name: z.string().default("").describe("Name of the user being served (unique English name)."),
    sender: z.string().default("").describe("The agent that made the call: you."),
    receiver: z.string().default("").describe("The agent that was called."),
    project_name: z.string().default("").describe("Project name."),
    task_name: z.string().default("").describe("Task name."),
    status: returned(callStates).describe("Status of the call: cancelled; empty when it is not known."),
    reason: z.string().default("").describe("Why the call was withdrawn."),
  }),
  errorModel: {
    IDENTITY_MISMATCH: "Your key may not speak for this sender. Put your own agent name in sender.",
    CALL_NOT_FOUND: "There is no such call, or this agent did not make it. Check call_id and sender.",
    CALL_CLOSED: "The call has already ended, so there is nothing to withdraw. Use get_call to see how it ended.",
  },
  examples: [
    {
      input: {
        call_id: "call_Jx1w0Vb2mJ7c5GkQe3TnYQ_0000000002_c81d04f7a92e",
        sender: "lead",
        reason: "用户改变了主意。",
      },
      output: {
        code: 0,
        msg: "",
        call_id: "call_Jx1w0Vb2mJ7c5GkQe3TnYQ_0000000002_c81d04f7a92e",
        session_id: "s-1",
        user_name: "alice",
        sender: "lead",
        receiver: "writer",
        project_name: "官网改版",
        task_name: "首页文案",
        status: "cancelled",
        reason: "用户改变了主意。",
      },
    },
  ],
  locales: {
    "zh-CN": {
      title: "取消呼叫",
      description:
        "撤回你发起的、尚未得到回复的呼叫：不再是接收者的待办，已收到它的接收者会得到通知。不再需要答复时调用。之后到来的回复只留在该呼叫的记录里，不再送达。" +
        "触发关键词：取消呼叫、撤回消息",
      category: "智能体协作",
      input: {
        call_id: "呼叫ID，取自 call_agent 的返回值",
        sender: "发起呼叫的智能体名称，填写你的名称（英文名）。",
        reason: "撤回的原因，保留在记录中并告知接收者，最多 1,000 个字符",
      },
      output: {
        code: "状态码",
        msg: "状态描述",
        call_id: "呼叫ID",
        session_id: "会话ID",
        user_name: "当前对话的用户名（英文名，唯一标识）",
        sender: "发起呼叫的智能体名称，即你（英文名）",
        receiver: "被呼叫的智能体名称（英文名）",
        project_name: "项目名",
        task_name: "任务名",
        status: "呼叫状态：cancelled（已取消），未知时为空",
        reason: "撤回的原因",
      },
    },
  },
});
