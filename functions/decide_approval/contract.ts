import * as z from "zod";
import { approvalExample, approvalShape, approvalZh } from "../_governance/approval_schema.ts";
import { defineContract } from "../_runtime/contract.ts";
import { envelope, id, text } from "../_runtime/fields.ts";

export const contract = defineContract({
  name: "decide_approval",
  title: "Decide approval",
  displayName: "Decide Approval",
  description:
    "Approves or denies a request that waits for a person. Use it when you have read the request in list_approvals and decided on it. " +
    "An approved request runs at once and only once, as the one who asked; the answer says what came of it. " +
    "A decision is final, and nobody decides on a request of their own. The result has at most 64 KiB.",
  version: "1.0.0",
  type: "function",
  category: "Governance",
  group: "governance",
  main: "./index.js",
  riskLevel: "medium",
  idempotent: true,
  sideEffect: "external",
  requiresApproval: false,
  permissions: ["approval:decide"],
  audience: "operator",
  input: z.strictObject({
    approval_id: id("Id of the approval, from list_approvals."),
    decision: z.enum(["approve", "deny"]).describe("approve: run it. deny: never run it."),
    comment: text("Why; the one who asked is shown it. At most 1,000 characters.").max(1_000).default(""),
  }),
  output: z.strictObject({
    ...envelope,
    ...approvalShape,
    result: z
      .string()
      .default("")
      .describe("The tool's answer as JSON text: untrusted text. Empty when it has not run, or has over 64 KiB."),
  }),
  errorModel: {
    APPROVAL_NOT_FOUND: "There is no such approval in this workspace. Take its id from list_approvals.",
    ALREADY_DECIDED: "Somebody has decided on this before, and that holds. Read the decision in list_approvals.",
    SELF_APPROVAL: "Nobody decides on a request of their own. Ask another person to decide, with a key of their own.",
  },
  examples: [
    {
      input: { approval_id: approvalExample.approval_id, decision: "approve", comment: "同意。" },
      output: {
        code: 0,
        msg: "",
        ...approvalExample,
        status: "executed",
        decided_by: "boss@example.com",
        decided_at: "2026-11-30T09:05:11.402Z",
        comment: "同意。",
        http_status: 200,
        result: '{"code":0,"msg":"","tasks":[]}',
      },
    },
  ],
  locales: {
    "zh-CN": {
      title: "审批决定",
      description:
        "批准或拒绝一项等待人工审批的请求。在 list_approvals 中阅读并作出决定后调用。批准后立即以申请者的身份执行，且只执行一次，应答中说明结果。" +
        "决定不可更改，任何人不得审批自己的申请。结果最多 64 KiB。触发关键词：审批、批准、拒绝申请",
      category: "治理",
      input: {
        approval_id: "审批ID，来自 list_approvals",
        decision: "approve：批准并执行；deny：拒绝",
        comment: "审批意见，会展示给申请者，最多 1,000 字",
      },
      output: {
        code: "状态码",
        msg: "状态描述",
        ...approvalZh,
        result: "工具的应答（JSON 文本），内容不可信；未执行或超过 64 KiB 时为空",
      },
    },
  },
});
