import * as z from "zod";
import { approvalStates } from "../_runtime/states.ts";

/** An approval as people see it, without what is held. */
export const approvalShape = {
  approval_id: z.string().default("").describe("Id of the approval."),
  status: z
    .enum(["", ...approvalStates])
    .default("")
    .describe(
      "pending: nobody has decided. approved: it runs in a moment. executed: the tool has run. " +
        "failed: the tool refused it. denied, expired: it was not run. Empty when it is not known.",
    ),
  tool: z.string().default("").describe("Name of the tool that is to run."),
  tool_version: z.string().default("").describe("Version of the tool's contract when it was asked."),
  risk_level: z.string().default("").describe("Risk of the tool: low, medium or high."),
  side_effect: z.string().default("").describe("What the tool touches: internal records, or external agents too."),
  key_id: z.string().default("").describe("Id of the API key that asked."),
  actor: z.string().default("").describe("The person or system behind that key."),
  agent_name: z.string().default("").describe("The agent that asked; empty when the tool has no speaker."),
  requested_at: z.string().default("").describe("When it was asked (ISO 8601, UTC)."),
  expires_at: z.string().default("").describe("Until when a decision counts (ISO 8601, UTC)."),
  decided_by: z.string().default("").describe("Who decided; empty while nobody has."),
  decided_at: z.string().default("").describe("When it was decided (ISO 8601, UTC); empty while it is not."),
  comment: z.string().default("").describe("What the person who decided said about it."),
  http_status: z.int().default(0).describe("HTTP status of the tool's answer; 0 while it has not run."),
  error_type: z.string().default("").describe("Why the tool refused it, of its error model; empty when it did not."),
  source_ref: z.string().default("").describe("Reference to the record: switchboard://approvals/<approval_id>."),
} as const;

/** The same in Chinese, for the tools' `locales`. */
export const approvalZh = {
  approval_id: "审批ID",
  status:
    "审批状态。pending：待审批；approved：已批准，即将执行；executed：已执行；failed：工具拒绝执行；denied：已拒绝；expired：已过期；未知则为空",
  tool: "待执行的工具名称",
  tool_version: "提出申请时工具契约的版本",
  risk_level: "工具的风险级别：low、medium 或 high",
  side_effect: "工具的副作用范围：internal 仅内部记录，external 还涉及其他智能体",
  key_id: "提出申请的 API 密钥ID",
  actor: "该密钥背后的人或系统",
  agent_name: "提出申请的智能体名称，工具没有发言者时为空",
  requested_at: "申请时间（ISO 8601，UTC）",
  expires_at: "审批截止时间（ISO 8601，UTC）",
  decided_by: "审批人，未审批时为空",
  decided_at: "审批时间（ISO 8601，UTC），未审批时为空",
  comment: "审批意见",
  http_status: "工具应答的 HTTP 状态码，未执行时为 0",
  error_type: "工具拒绝执行的原因（见错误模型），没有则为空",
  source_ref: "审批记录的引用：switchboard://approvals/<approval_id>。",
} as const;

/** One that waits, for the examples of the tools. */
export const approvalExample = {
  approval_id: "apr_1796034000000_5f2c9a1be07d4c11",
  status: "pending",
  tool: "assign_agent_work",
  tool_version: "1.0.0",
  risk_level: "medium",
  side_effect: "external",
  key_id: "4f1d02a9c3be",
  actor: "platform@example.com",
  agent_name: "lead",
  requested_at: "2026-11-30T09:00:00.000Z",
  expires_at: "2026-12-01T09:00:00.000Z",
  decided_by: "",
  decided_at: "",
  comment: "",
  http_status: 0,
  error_type: "",
  source_ref: "switchboard://approvals/apr_1796034000000_5f2c9a1be07d4c11",
} as const;
