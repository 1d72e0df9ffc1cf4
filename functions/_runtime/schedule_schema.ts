import * as z from "zod";
import { overlaps, returned, runOutcomes, scheduleStates } from "./states.ts";

/** A schedule as schedule_agent_work, list_schedules and cancel_schedule answer it: as it is now. */
export const scheduleReturns = {
  schedule_id: z.string().default("").describe("Id of the schedule, for cancel_schedule."),
  name: z.string().default("").describe("Name of the schedule."),
  session_id: z.string().default("").describe("Session of the work that it assigns."),
  user_name: z.string().default("").describe("Name of the user being served (unique English name)."),
  leader: z.string().default("").describe("The agent that every run assigns the work as."),
  project_name: z.string().default("").describe("Project name."),
  tasks: z
    .array(
      z.strictObject({
        name: z.string().describe("Task name."),
        executor: z.string().describe("The agent that each run assigns the task to."),
      }),
    )
    .default([])
    .describe("What each run assigns."),
  schedule: z.string().default("").describe("When it runs: at(…), rate(…) or cron(…) in its time zone."),
  timezone: z.string().default("").describe("Its time zone (IANA name)."),
  start_at: z.string().default("").describe("No run comes before it (ISO 8601, UTC)."),
  end_at: z.string().default("").describe("No run comes after it (ISO 8601, UTC); empty when there is no end."),
  flexible_window_minutes: z
    .number()
    .default(0)
    .describe("Minutes within which a run may come after its time; 0 for none."),
  overlap: returned(overlaps).describe("What a run does while the work of the one before is open."),
  status: returned(scheduleStates).describe("Status of the schedule; ended when no run is left."),
  reason: z.string().default("").describe("Why it was cancelled; empty otherwise."),
  next_runs: z
    .array(
      z.strictObject({
        local: z.string().describe("In the schedule's time zone, with its distance from UTC (ISO 8601)."),
        utc: z.string().describe("The same in UTC (ISO 8601)."),
      }),
    )
    .default([])
    .describe("The next runs, at most three; empty when none is left."),
  last_run_at: z
    .string()
    .default("")
    .describe("When the last run was to come (ISO 8601, UTC); empty before the first."),
  last_outcome: returned(runOutcomes).describe(
    "What became of it: its work was assigned (started), is being assigned (starting), was accepted by no executor (rejected), waits for the run before (queued) or for an approval (held), or it did not happen (skipped, failed).",
  ),
  last_error: z.string().default("").describe("Why it was skipped, rejected, held or failed; empty otherwise."),
  last_assignment_id: z.string().default("").describe("What it assigned, for get_project; empty when nothing."),
  created_at: z.string().default("").describe("When the schedule was made (ISO 8601, UTC)."),
};

/** What the tools' examples show: a schedule that has not run yet. */
export const scheduleExample: z.input<z.ZodObject<typeof scheduleReturns>> = {
  schedule_id: "sch_1796029200000_0123456789ab",
  name: "每日简报",
  session_id: "sch_1796029200000_0123456789ab",
  user_name: "alice",
  leader: "lead",
  project_name: "官网改版",
  tasks: [{ name: "简报", executor: "writer" }],
  schedule: "cron(0 9 ? * MON-FRI *)",
  timezone: "Asia/Shanghai",
  start_at: "2026-11-30T09:00:00.000Z",
  end_at: "",
  flexible_window_minutes: 0,
  overlap: "skip",
  status: "active",
  reason: "",
  next_runs: [
    { local: "2026-12-01T09:00:00+08:00", utc: "2026-12-01T01:00:00.000Z" },
    { local: "2026-12-02T09:00:00+08:00", utc: "2026-12-02T01:00:00.000Z" },
    { local: "2026-12-03T09:00:00+08:00", utc: "2026-12-03T01:00:00.000Z" },
  ],
  last_run_at: "",
  last_outcome: "",
  last_error: "",
  last_assignment_id: "",
  created_at: "2026-11-30T09:00:00.000Z",
};

/** The same in Chinese. */
export const scheduleReturnsZh = {
  schedule_id: "定时计划ID，供 cancel_schedule 使用",
  name: "定时计划名称",
  session_id: "所分配工作的会话ID",
  user_name: "当前对话的用户名（英文名，唯一标识）",
  leader: "负责人名称，每次运行都以该智能体的身份分配工作（英文名）",
  project_name: "项目名",
  tasks: "每次运行所分配的任务",
  "tasks[].name": "任务名",
  "tasks[].executor": "任务负责人（英文名）",
  schedule: "运行时间：该时区中的 at(…)、rate(…) 或 cron(…)",
  timezone: "时区（IANA 名称）",
  start_at: "在此之前不运行（ISO 8601，UTC）",
  end_at: "在此之后不运行（ISO 8601，UTC），没有结束时间则为空",
  flexible_window_minutes: "运行可延后的分钟数，0 表示不延后",
  overlap: "上一次运行的工作尚未结束时，本次运行如何处理（skip 跳过、queue 排队）",
  status: "定时计划状态（active 生效、cancelled 已取消、ended 已结束）",
  reason: "取消的原因，未取消则为空",
  next_runs: "接下来的运行时间，最多三次，不再运行则为空",
  "next_runs[].local": "该时区的时间，含与 UTC 的时差（ISO 8601）",
  "next_runs[].utc": "对应的 UTC 时间（ISO 8601）",
  last_run_at: "最近一次运行的预定时间（ISO 8601，UTC），尚未运行则为空",
  last_outcome:
    "最近一次运行的结果（started 已分配、starting 分配中、rejected 无人接受、queued 排队、held 待审批、skipped 已跳过、failed 失败）",
  last_error: "被跳过、拒绝、等待审批或失败的原因，否则为空",
  last_assignment_id: "最近一次运行的分配ID，供 get_project 使用，没有则为空",
  created_at: "定时计划的创建时间（ISO 8601，UTC）",
};
