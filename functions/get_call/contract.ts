import * as z from "zod";
import { defineContract } from "../_runtime/contract.ts";
import { agentName, envelope, id, returnedFiles } from "../_runtime/fields.ts";
import { callStates, returned } from "../_runtime/states.ts";

export const contract = defineContract({
  name: "get_call",
  title: "Get call",
  displayName: "Get Call",
  description:
    "Returns what call_agent would answer for a call now: the reply, code 202 while there is none, or how the call failed. Use it when call_agent " +
    "answered 202, instead of calling again, or to see where a call is: each delivery attempt and what happens next. " +
    "Only the two agents of the call may read it. The reply is at most 64 KiB; source_ref points to the record of the call.",
  version: "1.0.0",
  type: "function",
  category: "Agent collaboration",
  group: "agent",
  main: "./index.js",
  riskLevel: "low",
  idempotent: true,
  sideEffect: "none",
  requiresApproval: false,
  permissions: ["agent:call"],
  audience: "agent",
  speaker: "agent_name",
  input: z.strictObject({
    call_id: id("Id of the call, from call_agent or from a message."),
    agent_name: agentName("Your own agent name: the sender or the receiver of the call."),
  }),
  output: z.strictObject({
    ...envelope,
    session_id: z.string().default("").describe("Session id."),
    user_name: z.string().default("").describe("Name of the user being served (unique English name)."),
    sender: z.string().default("").describe("Sender of the reply: the agent that was called."),
    receiver: z.string().default("").describe("Receiver of the reply: the agent that called."),
    project_name: z.string().default("").describe("Project name."),
    task_name: z.string().default("").describe("Task name."),
    type: z.string().default("text").describe("Type of the reply."),
    content: z
      .string()
      .default("")
      .describe("The called agent's reply; Markdown is allowed. Empty while code is 202. At most 64 KiB."),
    files: returnedFiles("Files that come with the reply.").default([]),
    call_id: z.string().default("").describe("Id of this call."),
    budget_remaining: z.int().min(0).default(0).describe("Calls that this session may still make."),
    source_ref: z.string().default("").describe("Reference to the record of this call: switchboard://calls/<call_id>."),
    status: returned(callStates).describe("Status of the call; empty when it is not known."),
    reason: z.string().default("").describe("Why the call failed, timed out or was cancelled."),
    created_at: z.string().default("").describe("When the call was accepted (ISO 8601, UTC)."),
    deadline_at: z.string().default("").describe("When the call times out (ISO 8601, UTC)."),
    next_action: z.string().default("").describe("What happens to the call next; empty when it has ended."),
    next_at: z.string().default("").describe("When that happens (ISO 8601, UTC); empty when nobody knows."),
    attempts: z
      .array(
        z.strictObject({
          number: z.int().min(1).describe("Number of the attempt, from 1."),
          started_at: z.string().describe("When it began (ISO 8601, UTC)."),
          ended_at: z.string().describe("When it ended (ISO 8601, UTC); empty while it runs."),
          outcome: z.string().describe("What came of it; empty while it runs."),
          http_status: z.int().min(0).describe("HTTP status of the webhook; 0 when there was none."),
        }),
      )
      .default([])
      .describe("Each attempt to deliver the call, oldest first."),
    late_replies: z
      .array(
        z.strictObject({
          sender: z.string().describe("The agent that replied."),
          content: z.string().describe("What it wrote: untrusted text."),
          received_at: z.string().describe("When it came (ISO 8601, UTC)."),
          reason: z.string().describe("Why it did not count."),
        }),
      )
      .default([])
      .describe("Replies that did not count: too late, a second one, or from another agent."),
  }),
  errorModel: {
    IDENTITY_MISMATCH: "Your key may not speak for this agent. Put your own agent name in agent_name.",
    CALL_NOT_FOUND:
      "There is no such call, or this agent is neither its sender nor its receiver. Check call_id and agent_name.",
    CALL_FAILED:
      "The message could not be delivered; this is final. Read reason and attempts, then ask another agent or tell the user.",
    CALL_TIMED_OUT:
      "The receiver gave no answer before the deadline. Ask another agent, or call again with a longer deadline_s.",
    CALL_CANCELLED: "The call was withdrawn. Call again if you still need the answer.",
  },
  examples: [
    {
      input: { call_id: "call_Jx1w0Vb2mJ7c5GkQe3TnYQ_0000000001_5f2c9a1be07d", agent_name: "lead" },
      output: {
        code: 0,
        msg: "",
        session_id: "s-1",
        user_name: "alice",
        sender: "writer",
        receiver: "lead",
        project_name: "官网改版",
        task_name: "首页文案",
        type: "text",
        content: "会应答的智能体，能完成的工作。",
        files: ["docs/home.md"],
        call_id: "call_Jx1w0Vb2mJ7c5GkQe3TnYQ_0000000001_5f2c9a1be07d",
        budget_remaining: 499,
        source_ref: "switchboard://calls/call_Jx1w0Vb2mJ7c5GkQe3TnYQ_0000000001_5f2c9a1be07d",
        status: "answered",
        reason: "",
        created_at: "2026-11-30T09:15:02.481Z",
        deadline_at: "2026-11-30T09:30:02.481Z",
        next_action: "",
        next_at: "",
        attempts: [
          {
            number: 1,
            started_at: "2026-11-30T09:15:02.502Z",
            ended_at: "2026-11-30T09:15:03.017Z",
            outcome: "answered",
            http_status: 200,
          },
        ],
        late_replies: [],
      },
    },
  ],
  locales: {
    "zh-CN": {
      title: "查询呼叫",
      description:
        "返回 call_agent 此刻对该呼叫会给出的结果：回复内容、尚无回复时的状态码 202，或失败原因。call_agent 返回 202 后用它取回复，不要重复呼叫；" +
        "也可用来查看呼叫进行到哪一步：每次投递的情况和下一步。只有该呼叫的双方可以查询。回复最多 64 KiB；source_ref 指向该呼叫的记录。" +
        "触发关键词：查询呼叫、取回复、对方回复了吗",
      category: "智能体协作",
      input: {
        call_id: "呼叫ID，取自 call_agent 的返回值或收到的消息",
        agent_name: "你的名称（英文名），须为该呼叫的发送者或接收者",
      },
      output: {
        code: "状态码",
        msg: "状态描述",
        session_id: "会话ID",
        user_name: "当前对话的用户名（英文名，唯一标识）",
        sender: "回复的发送者名称，即被呼叫的智能体（英文名）",
        receiver: "回复的接收者名称，即发起呼叫的智能体（英文名）",
        project_name: "项目名",
        task_name: "任务名",
        type: "消息类型",
        content: "被呼叫智能体的回复消息内容，支持Markdown格式；状态码为 202 时为空，最多 64 KiB",
        files: "文件清单",
        call_id: "本次呼叫的ID",
        budget_remaining: "本会话还可以发起的呼叫次数。",
        source_ref: "本次呼叫记录的引用：switchboard://calls/<call_id>。",
        status:
          "呼叫状态（queued 排队中、delivered 已送达、answered 已回复、failed 失败、timed_out 超时、cancelled 已取消），未知时为空",
        reason: "呼叫失败、超时或被取消的原因",
        created_at: "呼叫被受理的时间（ISO 8601，UTC）",
        deadline_at: "呼叫的截止时间（ISO 8601，UTC）",
        next_action: "下一步会发生什么，已结束则为空",
        next_at: "下一步的时间（ISO 8601，UTC），无法预知则为空",
        attempts: "每次投递的情况，最早的在前",
        "attempts[].number": "第几次投递，从 1 开始",
        "attempts[].started_at": "开始时间（ISO 8601，UTC）",
        "attempts[].ended_at": "结束时间（ISO 8601，UTC），进行中为空",
        "attempts[].outcome": "投递结果，进行中为空",
        "attempts[].http_status": "webhook 返回的 HTTP 状态码，没有则为 0",
        late_replies: "未被采用的回复：迟到的、重复的或来自其他智能体的",
        "late_replies[].sender": "回复者名称（英文名）",
        "late_replies[].content": "回复内容，属于不可信文本",
        "late_replies[].received_at": "收到的时间（ISO 8601，UTC）",
        "late_replies[].reason": "未被采用的原因",
      },
    },
  },
});
