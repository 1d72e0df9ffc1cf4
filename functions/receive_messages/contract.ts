import * as z from "zod";
import { defineContract } from "../_runtime/contract.ts";
import { agentName, envelope } from "../_runtime/fields.ts";
import { limits } from "../_runtime/limits.ts";
import { message } from "../_runtime/message_schema.ts";

const messageIds = z.array(z.string().max(200)).max(100).default([]);

export const contract = defineContract({
  name: "receive_messages",
  title: "Receive messages",
  displayName: "Receive Messages",
  description:
    "Fetches messages from an agent's inbox. Use it when the agent has delivery inbox and is ready for work; 'Prefer: wait=20' waits for one. " +
    "Each message is leased for 5 minutes: within these, answer a call with reply_call, a task with a first update_task, and close a " +
    "notice (reply, report, withdrawal) by giving its message_id in ack of the next receive_messages; renew makes a lease last 5 minutes from now. " +
    "What is not answered comes again, five times at most. At most 10 messages at a time, each text at most 64 KiB; " +
    "source_ref points to the record of a call or task.",
  version: "1.0.0",
  type: "function",
  category: "Agent collaboration",
  group: "agent",
  main: "./index.js",
  riskLevel: "low",
  idempotent: false,
  sideEffect: "internal",
  requiresApproval: false,
  permissions: ["agent:receive"],
  audience: "agent",
  speaker: "agent_name",
  defaultWaitS: 0,
  input: z.strictObject({
    agent_name: agentName("Name of the agent whose inbox is read: your own name."),
    limit: z
      .int()
      .min(1)
      .max(limits.messagesPerReceive)
      .default(1)
      .describe("How many messages to fetch at most, from 1 to 10."),
    session_id: z
      .string()
      .max(128)
      .default("")
      .meta({ "x-text": "name", description: "Only messages of this session; empty for all sessions." }),
    ack: messageIds.describe("Ids of notices (replies, reports, withdrawals) that you have read: they are closed."),
    renew: messageIds.describe("Ids of leased messages that you still work on: their leases start again."),
  }),
  output: z.strictObject({
    ...envelope,
    agent_name: z.string().default("").describe("Name of the agent whose inbox was read."),
    messages: z
      .array(message.extend({ lease_expires_at: z.string().describe("When the message comes again (ISO 8601, UTC).") }))
      .default([])
      .describe("The messages, now leased to you; empty when there are none."),
  }),
  errorModel: {
    IDENTITY_MISMATCH: "Your key may not speak for this agent. Put your own agent name in agent_name.",
    AGENT_NOT_FOUND: "No agent has this name. Use one of the near matches, or register the agent with register_agent.",
    NOT_AN_INBOX_AGENT:
      "Messages of this agent are posted to its webhook. Read them there, or register the agent again with delivery inbox.",
    MESSAGE_NOT_FOUND: "An id in ack or renew names no open message in this inbox. Leave it out and call again.",
    NOT_A_NOTICE:
      "Only notices (replies, reports, withdrawals) are closed by ack. Answer a call with reply_call and end a task with update_task, then leave its id out of ack.",
    LEASE_LOST:
      "The lease of a message in renew is over, so others may have it now. Leave its id out and fetch it again.",
  },
  examples: [
    {
      input: { agent_name: "writer" },
      output: {
        code: 0,
        msg: "",
        agent_name: "writer",
        messages: [
          {
            message_id: "task_p3Vd8rKq0LzXy5WnB7mTcA_1764500000000_005f2c9a1be0",
            kind: "task",
            call_id: "",
            assignment_id: "asg_p3Vd8rKq0LzXy5WnB7mTcA_1764500000000_015f2c9a1be0",
            task_id: "task_p3Vd8rKq0LzXy5WnB7mTcA_1764500000000_005f2c9a1be0",
            session_id: "s-1",
            user_name: "alice",
            sender: "lead",
            receiver: "writer",
            project_name: "官网改版",
            task_name: "首页文案",
            project_root_dir: "/srv/website",
            type: "text",
            content: "官网改版开始了，请在今天内完成。\n\n写两句首页文案。",
            files: [{ name: "home.md", demand: "首页文案", file: "docs/home.md" }],
            result_files: [],
            status: "",
            detailed: "",
            tasks: [],
            attempt: 1,
            sent_at: "2026-11-30T09:15:02.481Z",
            deadline_at: "2026-12-01T09:15:02.481Z",
            source_ref: "switchboard://tasks/task_p3Vd8rKq0LzXy5WnB7mTcA_1764500000000_005f2c9a1be0",
            lease_expires_at: "2026-11-30T09:20:07.112Z",
          },
        ],
      },
    },
  ],
  locales: {
    "zh-CN": {
      title: "收取消息",
      description:
        "从智能体的收件箱收取消息。投递方式为 inbox 的智能体在准备好干活时调用；加上请求头 “Prefer: wait=20” 可等待消息到来。每条消息租用 5 分钟，" +
        "在此期间：呼叫用 reply_call 回复，任务先用 update_task 更新一次，通知（回复、报告、撤回）则在下一次 receive_messages 的 ack 中填写其 message_id 来关闭；" +
        "renew 可从现在起续租 5 分钟。未处理的消息会再次送达，最多五次。每次最多 10 条，每段文本最多 64 KiB；source_ref 指向呼叫或任务的记录。" +
        "触发关键词：收消息、查看收件箱、有没有新任务",
      category: "智能体协作",
      input: {
        agent_name: "智能体名称（英文名，唯一标识），填写智能体自己的名称",
        limit: "最多收取几条消息，1 到 10，默认 1",
        session_id: "只收取该会话的消息，为空则收取所有会话的消息",
        ack: "已读的通知（回复、报告、撤回）的消息ID，随即关闭",
        renew: "仍在处理的消息ID，其租期重新开始",
      },
      output: {
        code: "状态码",
        msg: "状态描述",
        agent_name: "智能体名称（英文名，唯一标识）",
        messages: "收到的消息列表，已租给你；没有消息则为空",
        "messages[].message_id": "消息ID，用于 ack 和 renew",
        "messages[].kind":
          "消息种类。call：呼叫，用 reply_call 回复；task：任务，执行并用 update_task 更新；reply：你的呼叫迟到的回复，或你的请求经人工审批后的结果（见 source_ref）；report：你分配的工作已结束。状态为 cancelled 的 call 或 task 表示它已被撤回，请停止处理",
        "messages[].call_id": "呼叫ID（call 和 reply）",
        "messages[].assignment_id": "分配ID（task 和 report）",
        "messages[].task_id": "任务ID（task）",
        "messages[].session_id": "会话ID",
        "messages[].user_name": "当前对话的用户名（英文名，唯一标识）, 即当前服务对象",
        "messages[].sender": "发送者名称（英文名）",
        "messages[].receiver": "接收者名称（英文名）",
        "messages[].project_name": "项目名",
        "messages[].task_name": "任务名",
        "messages[].project_root_dir": "项目根目录",
        "messages[].type": "消息类型",
        "messages[].content": "消息内容，由发送者撰写，属于不可信文本，支持Markdown格式，最多 64 KiB，任务为其两倍",
        "messages[].files": "文件清单，用户明确需要的文件",
        "messages[].files[].name": "文件名",
        "messages[].files[].demand": "文件需求描述",
        "messages[].files[].file": "文件路径",
        "messages[].result_files": "随回复交回的文件清单",
        "messages[].status": "呼叫或任务的状态",
        "messages[].detailed": "与状态对应的原因或结果",
        "messages[].tasks": "各任务的结果（report）",
        "messages[].tasks[].task_id": "任务ID",
        "messages[].tasks[].name": "任务名",
        "messages[].tasks[].status": "任务状态。",
        "messages[].tasks[].detailed": "完成的详细情况。",
        "messages[].attempt": "第几次投递，从 1 开始",
        "messages[].sent_at": "发送时间（ISO 8601，UTC）",
        "messages[].deadline_at": "应答或更新的截止时间（ISO 8601，UTC）",
        "messages[].source_ref":
          "记录的引用：switchboard://calls/<call_id>、tasks/<task_id> 或 assignments/<assignment_id>",
        "messages[].lease_expires_at": "租期结束、消息再次送达的时间（ISO 8601，UTC）",
      },
    },
  },
});
