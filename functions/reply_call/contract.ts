import * as z from "zod";
import { defineContract } from "../_runtime/contract.ts";
import { agentName, envelope, id, returnedFiles, text } from "../_runtime/fields.ts";
import { callStates, returned } from "../_runtime/states.ts";

export const contract = defineContract({
  name: "reply_call",
  title: "Reply to call",
  displayName: "Reply To Call",
  description:
    "Answers a call that another agent made to you. Use it when a message of kind call came from receive_messages, or when your webhook " +
    "accepted a call with 202 and the answer is ready now. A call is answered once: the first reply stays. The caller gets it from its " +
    "waiting call_agent, or as a message when it no longer waits.",
  version: "1.0.0",
  type: "function",
  category: "Agent collaboration",
  group: "agent",
  main: "./index.js",
  riskLevel: "medium",
  idempotent: false,
  sideEffect: "external",
  requiresApproval: false,
  permissions: ["agent:receive"],
  audience: "agent",
  speaker: "sender",
  input: z.strictObject({
    call_id: id("Id of the call, from the message."),
    sender: agentName("Name of the replier: your own agent name (English)."),
    content: text("The reply; Markdown is allowed. At most 64 KiB in UTF-8.").min(1),
    type: z.string().min(1).max(64).default("text").meta({ "x-text": "name", description: "Type of the content." }),
    files: returnedFiles("Paths or links of files that come with the reply. At most 64 KiB together.").default([]),
  }),
  output: z.strictObject({
    ...envelope,
    call_id: z.string().default("").describe("Id of the call."),
    session_id: z.string().default("").describe("Session id."),
    user_name: z.string().default("").describe("Name of the user being served (unique English name)."),
    sender: z.string().default("").describe("The replier: you."),
    receiver: z.string().default("").describe("The agent that gets the reply: your caller."),
    project_name: z.string().default("").describe("Project name."),
    task_name: z.string().default("").describe("Task name."),
    status: returned(callStates).describe("Status of the call: answered; empty when it is not known."),
  }),
  errorModel: {
    IDENTITY_MISMATCH: "Your key may not speak for this sender. Put your own agent name in sender.",
    CALL_NOT_FOUND: "There is no call with this id. Take call_id from the message exactly as it stands there.",
    CALL_CLOSED:
      "The call has already ended or was made to another agent; your text is kept on its record. Do not reply again: get_call says how it ended, and call_agent starts a new call.",
    CONTENT_TOO_LARGE:
      "The text or the file list is over 64 KiB. Shorten it, or put large material in a file and name its path.",
  },
  examples: [
    {
      input: {
        call_id: "call_Jx1w0Vb2mJ7c5GkQe3TnYQ_0000000001_5f2c9a1be07d",
        sender: "writer",
        content: "会应答的智能体，能完成的工作。",
        files: ["docs/home.md"],
      },
      output: {
        code: 0,
        msg: "",
        call_id: "call_Jx1w0Vb2mJ7c5GkQe3TnYQ_0000000001_5f2c9a1be07d",
        session_id: "s-1",
        user_name: "alice",
        sender: "writer",
        receiver: "lead",
        project_name: "官网改版",
        task_name: "首页文案",
        status: "answered",
      },
    },
  ],
  locales: {
    "zh-CN": {
      title: "回复呼叫",
      description:
        "回复其他智能体对你的呼叫。从 receive_messages 收到种类为 call 的消息时，或你的 webhook 先应答了 202、现在答案已准备好时调用。" +
        "一次呼叫只能回复一次，以第一次为准。呼叫方仍在等待时，由它的 call_agent 直接返回；不再等待时，以消息送达。触发关键词：回复呼叫、答复智能体",
      category: "智能体协作",
      input: {
        call_id: "呼叫ID，取自收到的消息",
        sender: "回复者名称，填写你的名称（英文名）。",
        content: "回复内容，支持Markdown格式，最多 64 KiB（UTF-8）",
        type: "消息类型，默认为 text",
        files: "随回复交回的文件路径或链接清单，合计最多 64 KiB",
      },
      output: {
        code: "状态码",
        msg: "状态描述",
        call_id: "呼叫ID",
        session_id: "会话ID",
        user_name: "当前对话的用户名（英文名，唯一标识）",
        sender: "回复者名称，即你（英文名）",
        receiver: "接收者名称，即呼叫你的智能体（英文名）",
        project_name: "项目名",
        task_name: "任务名",
        status: "呼叫状态：answered（已回复），未知时为空",
      },
    },
  },
});
