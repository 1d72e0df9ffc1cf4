import * as z from "zod";
import { defineContract } from "../_runtime/contract.ts";
import { agentName, cursor, envelope, nextCursor } from "../_runtime/fields.ts";
import { scheduleExample, scheduleReturns, scheduleReturnsZh } from "../_runtime/schedule_schema.ts";

export const contract = defineContract({
  name: "list_schedules",
  title: "List schedules",
  displayName: "List Schedules",
  description:
    "Lists scheduled work: when each schedule runs next, when it ran last and what became of that run. Use it to see what is planned, " +
    "to find a schedule's id, or to learn why a run did not happen. At most 20 schedules per page, oldest first.",
  version: "1.0.0",
  type: "function",
  category: "Agent collaboration",
  group: "agent",
  main: "./index.js",
  riskLevel: "low",
  idempotent: true,
  sideEffect: "none",
  requiresApproval: false,
  permissions: ["schedule:read"],
  audience: "agent",
  input: z.strictObject({
    leader: agentName("Only schedules of this leader; empty for all.").default(""),
    user_name: z
      .string()
      .max(128)
      .default("")
      .meta({ "x-text": "name", description: "Only schedules for this user; empty for all." }),
    all: z.boolean().default(false).describe("Also those that were cancelled or have ended."),
    cursor,
    limit: z.int().min(1).max(20).default(20).describe("Schedules per page, from 1 to 20."),
  }),
  output: z.strictObject({
    ...envelope,
    schedules: z.array(z.strictObject(scheduleReturns)).default([]).describe("The schedules of this page."),
    next_cursor: nextCursor,
  }),
  errorModel: {
    LEADER_NOT_FOUND: "There is no such agent, and no schedule of it. Check the name, or leave leader out to see all.",
    INVALID_CURSOR: "The cursor is not one that this tool gave out. Leave cursor out to start with the first page.",
  },
  examples: [
    {
      input: { leader: "lead" },
      output: {
        code: 0,
        msg: "",
        schedules: [
          {
            ...scheduleExample,
            last_outcome: "skipped",
            last_run_at: "2026-12-01T01:00:00.000Z",
            next_runs: [{ local: "2026-12-02T09:00:00+08:00", utc: "2026-12-02T01:00:00.000Z" }],
            end_at: "2026-12-02T23:59:59.000Z",
            last_error: "The run before it had not ended.",
          },
        ],
        next_cursor: "",
      },
    },
  ],
  locales: {
    "zh-CN": {
      title: "列出定时计划",
      description:
        "列出定时分配的工作：下次运行时间、最近一次运行时间及其结果。需要查看有哪些计划、查找定时计划ID，或了解某次运行为何没有进行时调用。" +
        "每页最多 20 个，最早的在前。触发关键词：有哪些定时任务、查看计划、下次运行时间",
      category: "智能体协作",
      input: {
        leader: "只列出该负责人的定时计划，为空则列出全部",
        user_name: "只列出该用户的定时计划，为空则列出全部",
        all: "是否也列出已取消或已结束的",
        cursor: "上一页返回的 next_cursor，首页为空",
        limit: "每页数量，1 到 20，默认 20",
      },
      output: {
        code: "状态码",
        msg: "状态描述",
        schedules: "本页的定时计划列表",
        ...Object.fromEntries(Object.entries(scheduleReturnsZh).map(([name, text]) => [`schedules[].${name}`, text])),
        next_cursor: "取下一页时作为 cursor 传入，最后一页为空",
      },
    },
  },
});
