import * as z from "zod";
import { defineContract } from "../_runtime/contract.ts";
import { agentName, cursor, envelope, nextCursor } from "../_runtime/fields.ts";
import { outcomes } from "../_runtime/states.ts";

export const contract = defineContract({
  name: "list_audit_events",
  title: "List audit events",
  displayName: "List Audit Events",
  description:
    "Lists who did what, when and with what outcome: one event for each invocation of a tool, refused ones included, newest first. " +
    "Use it when you must know what a key, an agent or a tool has done. It never shows what was said. At most 100 events per page; " +
    "a page may be short or empty although more follow, so go on while next_cursor is not empty.",
  version: "1.0.0",
  type: "function",
  category: "Governance",
  group: "governance",
  main: "./index.js",
  riskLevel: "low",
  idempotent: true,
  sideEffect: "none",
  requiresApproval: false,
  permissions: ["audit:read"],
  audience: "operator",
  input: z.strictObject({
    from: z
      .string()
      .max(40)
      .default("")
      .describe(
        "Only events from then on (ISO 8601 with a zone, like 2026-11-30T09:00:00Z); empty: 24 hours before `to`.",
      ),
    to: z
      .string()
      .max(40)
      .default("")
      .describe("Only events until then, itself included (ISO 8601 with a zone); empty: until now."),
    agent_name: agentName("Only what was done as this agent; empty for all.").default(""),
    tool: z.string().max(64).default("").describe("Only invocations of this tool; empty for all."),
    outcome: z
      .enum(outcomes)
      .optional()
      .describe(
        "Only events with this outcome; leave it out for all. ok: done. pending: not answered yet. " +
          "held: waits for approval. refused: the caller's fault. failed: ours.",
      ),
    cursor,
    limit: z.int().min(1).max(100).default(50).describe("Events per page, from 1 to 100."),
  }),
  output: z.strictObject({
    ...envelope,
    events: z
      .array(
        z.strictObject({
          at: z.string().describe("When it was answered (ISO 8601, UTC)."),
          request_id: z.string().describe("Id of the request, as in its answer's x-request-id and in the log."),
          key_id: z.string().describe("Id of the API key."),
          actor: z.string().describe("The person or system behind the key."),
          agent_name: z.string().describe("The agent that it was done as; empty when the tool has no speaker."),
          tool: z.string().describe("Name of the tool."),
          tool_version: z.string().describe("Version of the tool's contract."),
          risk_level: z.string().describe("Risk of the tool: low, medium or high."),
          outcome: z.enum(outcomes).describe("What came of it."),
          error_type: z.string().describe("Type of the error, of the tool's errorModel; empty when there was none."),
          http_status: z.int().describe("HTTP status of the answer."),
          duration_ms: z.int().describe("How long it took, in milliseconds; waiting included."),
          input_digest: z
            .string()
            .describe("Keyed digest of the input: equal for equal inputs of one key; says nothing else about it."),
          via: z.string().describe("By which way it was asked: http, mcp, approval or schedule."),
          approval_id: z
            .string()
            .describe("The approval by which it ran or that it waits for; empty when it needed none."),
          schedule_id: z.string().describe("The schedule that started it; empty when none did."),
        }),
      )
      .default([])
      .describe("The events of this page, newest first."),
    next_cursor: nextCursor,
  }),
  errorModel: {
    INVALID_CURSOR:
      "The cursor is not one that this tool gave out for this range. Leave cursor out to start with the first page.",
  },
  examples: [
    {
      input: { agent_name: "lead", outcome: "refused" },
      output: {
        code: 0,
        msg: "",
        events: [
          {
            at: "2026-11-30T09:15:02.481Z",
            request_id: "f3Yx1hVPIAMEJ8A=",
            key_id: "4f1d02a9c3be",
            actor: "platform@example.com",
            agent_name: "lead",
            tool: "call_agent",
            tool_version: "1.0.0",
            risk_level: "medium",
            outcome: "refused",
            error_type: "MASTER_NOT_CALLABLE",
            http_status: 403,
            duration_ms: 14,
            input_digest: "9f2d8c1a7be04c55e1f3a6d20b7c9e88fa31d5c4b2e6078199aa0c3d4e5f6071",
            via: "http",
            approval_id: "",
            schedule_id: "",
          },
        ],
        next_cursor: "",
      },
    },
  ],
  locales: {
    "zh-CN": {
      title: "列出审计事件",
      description:
        "列出谁在何时做了什么、结果如何：每次工具调用（包括被拒绝的）一条事件，最新的在前。需要查明某个密钥、智能体或工具做过什么时调用。不显示任何内容。" +
        "每页最多 100 条；某页可能不足或为空但后面还有，只要 next_cursor 不为空就继续。触发关键词：审计、操作记录、谁做了什么",
      category: "治理",
      input: {
        from: "只列出此时及之后的事件（带时区的 ISO 8601），为空则为 to 之前 24 小时",
        to: "只列出此时及之前的事件（带时区的 ISO 8601），为空则到现在",
        agent_name: "只列出以该智能体身份进行的操作，为空则全部",
        tool: "只列出对该工具的调用，为空则全部",
        outcome:
          "只列出该结果的事件，不填则全部。ok：完成；pending：尚未应答；held：等待审批；refused：调用方的错误；failed：系统的错误",
        cursor: "上一页返回的 next_cursor，首页为空",
        limit: "每页数量，1 到 100，默认 50",
      },
      output: {
        code: "状态码",
        msg: "状态描述",
        events: "本页的事件列表，最新的在前",
        "events[].at": "应答时间（ISO 8601，UTC）",
        "events[].request_id": "请求ID，与应答头 x-request-id 和日志一致",
        "events[].key_id": "API 密钥ID",
        "events[].actor": "密钥背后的人或系统",
        "events[].agent_name": "操作时的智能体身份，工具没有发言者则为空",
        "events[].tool": "工具名称",
        "events[].tool_version": "工具契约的版本",
        "events[].risk_level": "工具的风险级别：low、medium 或 high",
        "events[].outcome": "结果",
        "events[].error_type": "错误类型，没有则为空",
        "events[].http_status": "应答的 HTTP 状态码",
        "events[].duration_ms": "耗时（毫秒），含等待",
        "events[].input_digest": "输入的带密钥摘要：同一密钥的相同输入摘要相同，不透露其他信息",
        "events[].via": "请求途径：http、mcp、approval 或 schedule",
        "events[].approval_id": "据以执行或正在等待的审批，不需要审批则为空",
        "events[].schedule_id": "触发它的定时任务，没有则为空",
        next_cursor: "取下一页时作为 cursor 传入，最后一页为空",
      },
    },
  },
});
