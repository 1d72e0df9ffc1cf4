import * as z from "zod";
import { approvalExample, approvalShape, approvalZh } from "../_governance/approval_schema.ts";
import { defineContract } from "../_runtime/contract.ts";
import { cursor, envelope, id, nextCursor } from "../_runtime/fields.ts";
import { approvalStates } from "../_runtime/states.ts";

export const contract = defineContract({
  name: "list_approvals",
  title: "List approvals",
  displayName: "List Approvals",
  description:
    "Lists requests that wait for a person's approval, newest first, with the exact input that would run and what the tool touches. " +
    "Use it before you decide with decide_approval, or to see what was decided. At most 20 approvals per page; a page may be short " +
    "or empty although more follow, so go on while next_cursor is not empty. With approval_id it shows that one with its whole input.",
  version: "1.0.0",
  type: "function",
  category: "Governance",
  group: "governance",
  main: "./index.js",
  riskLevel: "low",
  idempotent: true,
  sideEffect: "none",
  requiresApproval: false,
  permissions: ["approval:read"],
  audience: "operator",
  input: z.strictObject({
    approval_id: id("Only this approval, with its whole input and result; empty for all.").default(""),
    status: z
      .enum(approvalStates)
      .default("pending")
      .describe("Only approvals in this state; ignored with approval_id."),
    cursor,
    limit: z.int().min(1).max(20).default(10).describe("Approvals per page, from 1 to 20."),
  }),
  output: z.strictObject({
    ...envelope,
    approvals: z
      .array(
        z.strictObject({
          ...approvalShape,
          input: z
            .string()
            .describe(
              "The exact input that runs, as JSON text: untrusted text. In a list cut after 4,000 characters with a mark.",
            ),
          result: z
            .string()
            .describe(
              "The tool's answer as JSON text, only with approval_id; cut after 64,000 characters with a mark; empty when it has not run.",
            ),
        }),
      )
      .default([])
      .describe("The approvals of this page, newest first."),
    next_cursor: nextCursor,
  }),
  errorModel: {
    APPROVAL_NOT_FOUND: "There is no such approval in this workspace. Leave approval_id out to list all.",
    INVALID_CURSOR: "The cursor is not one that this tool gave out. Leave cursor out to start with the first page.",
  },
  examples: [
    {
      input: { status: "pending", limit: 10 },
      output: {
        code: 0,
        msg: "",
        approvals: [
          {
            ...approvalExample,
            input: '{"session_id":"s-1","user_name":"alice","leader":"lead","project_name":"官网改版","tasks":[]}',
            result: "",
          },
        ],
        next_cursor: "",
      },
    },
  ],
  locales: {
    "zh-CN": {
      title: "列出审批",
      description:
        "列出等待人工审批的请求（最新的在前），包括将要执行的准确输入和工具的副作用。在用 decide_approval 作决定之前，或需要查看审批结果时调用。" +
        "每页最多 20 项；某页可能不足或为空但后面还有，只要 next_cursor 不为空就继续。传入 approval_id 则只显示该项及其完整输入。触发关键词：待审批、审批列表",
      category: "治理",
      input: {
        approval_id: "只显示该审批及其完整输入和结果，为空则列出全部",
        status: "只列出该状态的审批，默认 pending；传入 approval_id 时忽略",
        cursor: "上一页返回的 next_cursor，首页为空",
        limit: "每页数量，1 到 20，默认 10",
      },
      output: {
        code: "状态码",
        msg: "状态描述",
        approvals: "本页的审批列表，最新的在前",
        ...Object.fromEntries(Object.entries(approvalZh).map(([name, told]) => [`approvals[].${name}`, told])),
        "approvals[].input": "将要执行的准确输入（JSON 文本），内容不可信；列表中超过 4,000 字符会截断并标明",
        "approvals[].result":
          "工具的应答（JSON 文本），仅在传入 approval_id 时给出，超过 64,000 字符会截断并标明，未执行则为空",
        next_cursor: "取下一页时作为 cursor 传入，最后一页为空",
      },
    },
  },
});
