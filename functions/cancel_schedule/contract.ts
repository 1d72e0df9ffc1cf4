import * as z from "zod";
import { defineContract } from "../_runtime/contract.ts";
import { agentName, envelope, id, text } from "../_runtime/fields.ts";
import { scheduleExample, scheduleReturns, scheduleReturnsZh } from "../_runtime/schedule_schema.ts";

export const contract = defineContract({
  name: "cancel_schedule",
  title: "Cancel schedule",
  displayName: "Cancel Schedule",
  description:
    "Stops a schedule that you made: no further run comes, and a run that waits for the one before is dropped. " +
    "Use it when recurring or later work is no longer needed. Work that earlier runs have assigned goes on; cancel_task withdraws it.",
  version: "1.0.0",
  type: "function",
  category: "Agent collaboration",
  group: "agent",
  main: "./index.js",
  riskLevel: "low",
  idempotent: true,
  sideEffect: "internal",
  requiresApproval: false,
  permissions: ["schedule:write"],
  audience: "agent",
  speaker: "leader",
  input: z.strictObject({
    schedule_id: id("Id of the schedule, from schedule_agent_work or list_schedules."),
    leader: agentName("Name of the agent that made the schedule: your own agent name (English)."),
    reason: text("Why it is stopped. At most 1,000 characters.").max(1_000).default(""),
  }),
  output: z.strictObject({ ...envelope, ...scheduleReturns }),
  errorModel: {
    IDENTITY_MISMATCH: "Your key may not speak for this leader. Put your own agent name in leader.",
    SCHEDULE_NOT_FOUND:
      "There is no such schedule, or this agent did not make it. Check schedule_id and leader; list_schedules lists them.",
    SCHEDULE_CLOSED:
      "The schedule has ended, so there is nothing to stop. Use cancel_task for work that it has assigned.",
  },
  examples: [
    {
      input: { schedule_id: "sch_1796029200000_0123456789ab", leader: "lead", reason: "项目已结束。" },
      output: {
        code: 0,
        msg: "",
        ...scheduleExample,
        status: "cancelled",
        reason: "项目已结束。",
        next_runs: [],
        last_run_at: "2026-12-01T01:00:00.000Z",
        last_outcome: "started",
        last_assignment_id: "asg_p3Vd8rKq0LzXy5WnB7mTcA_1796086800000_015f2c9a1be0",
      },
    },
  ],
  locales: {
    "zh-CN": {
      title: "取消定时计划",
      description:
        "停止你创建的定时计划：不再运行，排队中的运行也一并取消。不再需要定期或以后的工作时调用。" +
        "先前运行已分配的工作照常进行，如需撤回请用 cancel_task。触发关键词：取消定时任务、停止定期工作、取消计划",
      category: "智能体协作",
      input: {
        schedule_id: "定时计划ID，取自 schedule_agent_work 或 list_schedules 的返回值",
        leader: "负责人名称，即创建该定时计划的智能体，填写你的名称（英文名）。",
        reason: "取消的原因，最多 1000 个字符",
      },
      output: { code: "状态码", msg: "状态描述", ...scheduleReturnsZh },
    },
  },
});
