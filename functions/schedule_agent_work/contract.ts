import * as z from "zod";
import { defineContract } from "../_runtime/contract.ts";
import { deadlineS, envelope, title } from "../_runtime/fields.ts";
import { scheduleExample, scheduleReturns, scheduleReturnsZh } from "../_runtime/schedule_schema.ts";
import { overlaps } from "../_runtime/states.ts";
import { workInput, workInputZh } from "../_runtime/work_schema.ts";

const line = (max: number, description: string) => z.string().max(max).meta({ "x-text": "name", description });

export const contract = defineContract({
  name: "schedule_agent_work",
  title: "Schedule agent work",
  displayName: "Schedule Agent Work",
  description:
    "Hands out work to other agents at a later time or again and again, with nobody present: at(…) once, rate(…) at intervals, cron(…) by the calendar of a time zone. " +
    "Only for master and director agents. Use it to schedule work, plan recurring tasks, set up daily or weekly jobs; assign_agent_work hands out work now. " +
    "Each run assigns the tasks as the leader, with the key that made the schedule. The answer shows the next three runs, in that zone and in UTC. " +
    "At most 40 tasks and 256 KiB in all.",
  version: "1.0.0",
  type: "function",
  category: "Agent collaboration",
  group: "agent",
  main: "./index.js",
  riskLevel: "medium",
  idempotent: false,
  sideEffect: "external",
  requiresApproval: false,
  permissions: ["schedule:write", "task:assign"],
  audience: "agent",
  speaker: "leader",
  input: z.strictObject({
    name: title("Name of the schedule, in any script, for example 每日简报.").min(1),
    schedule: line(
      256,
      "When it runs: cron(minutes hours day-of-month month day-of-week year), rate(value minutes|hours|days) or at(yyyy-mm-ddThh:mm:ss). " +
        "Examples: cron(0 9 ? * MON-FRI *), rate(15 minutes), at(2027-01-31T09:00:00). In cron, one of day-of-month and day-of-week is ?, and 1 is Sunday.",
    ).min(1),
    timezone: line(
      64,
      "IANA time zone in which cron and at are read, for example Asia/Shanghai; leave it out for UTC.",
    ).default(""),
    session_id: line(
      128,
      "Session that the work belongs to; leave it out to give the schedule a session of its own.",
    ).default(""),
    ...workInput,
    options: z
      .strictObject({
        start: line(
          40,
          "Begin of a cron or rate, as 2027-01-31T09:00:00 in the time zone, or with Z or an offset; empty for now.",
        ).default(""),
        end: line(40, "End of a cron or rate, written like start; empty for none.").default(""),
        flexible_window_minutes: z
          .int()
          .min(0)
          .max(1440)
          .default(0)
          .describe("Minutes within which each run may come after its time, from 1 to 1440; 0 for none."),
        overlap: z
          .enum(overlaps)
          .default("skip")
          .describe(
            "What a run does while work of the one before is open: skip it, or queue it until that work has ended (one run at most waits).",
          ),
        deadline_s: deadlineS(
          "Seconds until a task that nobody updates ends as timed out, from 1 to 2592000. Default 86400 (24 hours).",
        ),
      })
      .prefault({})
      .describe("What is seldom needed."),
  }),
  output: z.strictObject({ ...envelope, ...scheduleReturns }),
  errorModel: {
    LEADER_NOT_FOUND: "The leader is not a registered agent. Register it with register_agent, then schedule again.",
    IDENTITY_MISMATCH: "Your key may not speak for this leader. Put your own agent name in leader.",
    NOT_A_LEADER:
      "Only master and director agents schedule work. Ask your director to do it, or use call_agent to ask an agent for help.",
    SESSION_USER_MISMATCH: "This session belongs to another user. Use this user's own session id, or leave it out.",
    INVALID_SCHEDULE:
      "The expression, time zone, start or end can't be used, or no run would ever come. Correct it after the example in the hint.",
    CONTENT_TOO_LARGE:
      "A text is over 64 KiB, or the work over 256 KiB in all. Shorten it, or put large material in a file and name its path.",
  },
  examples: [
    {
      input: {
        name: "每日简报",
        schedule: "cron(0 9 ? * MON-FRI *)",
        timezone: "Asia/Shanghai",
        user_name: "alice",
        leader: "lead",
        content: "请准备今天的简报。",
        project_name: "官网改版",
        tasks: [{ name: "简报", executor: "writer", content: "汇总昨天的进展。" }],
        options: { end: "2027-12-31T23:59:59", overlap: "queue" },
      },
      output: {
        code: 0,
        msg: "",
        ...scheduleExample,
        end_at: "2027-12-31T15:59:59.000Z",
        overlap: "queue",
      },
    },
  ],
  locales: {
    "zh-CN": {
      title: "定时分配智能体工作",
      description:
        "在以后某个时间或周期性地把工作分配给其他智能体，届时无需有人在场：at(…) 运行一次，rate(…) 按间隔运行，cron(…) 按某时区的日历运行。" +
        "仅限master和总监类智能体使用。立即分配工作请用 assign_agent_work。每次运行都以负责人的身份、用创建时的密钥分配任务。" +
        "返回接下来三次运行的当地时间和 UTC 时间。最多 40 个任务，总计 256 KiB。触发关键词：定时任务、定期安排工作、每天、每周、计划任务",
      category: "智能体协作",
      input: {
        name: "定时计划名称，可用任何文字，例如 每日简报",
        schedule:
          "运行时间：cron(分 时 日 月 周 年)、rate(数值 minutes|hours|days) 或 at(yyyy-mm-ddThh:mm:ss)。" +
          "例如 cron(0 9 ? * MON-FRI *)、rate(15 minutes)、at(2027-01-31T09:00:00)。cron 的日和周须有一个为 ?，周的 1 为星期日。",
        timezone: "cron 和 at 所用的 IANA 时区，例如 Asia/Shanghai，不填则为 UTC",
        session_id: "工作所属的会话ID，不填则该定时计划使用自己的会话",
        ...workInputZh,
        options: "不常用的选项",
        "options.start": "cron 或 rate 的开始时间，写作该时区的 2027-01-31T09:00:00，也可带 Z 或时差，为空则立即开始",
        "options.end": "cron 或 rate 的结束时间，写法同 start，为空则不结束",
        "options.flexible_window_minutes": "每次运行可延后的分钟数，1 到 1440，0 表示不延后",
        "options.overlap": "上一次运行的工作尚未结束时：skip 跳过本次，queue 排队等其结束（最多一次等待）",
        "options.deadline_s": "任务无人更新时的截止时间（秒），1 到 2592000，默认 86400（24 小时）。",
      },
      output: { code: "状态码", msg: "状态描述", ...scheduleReturnsZh },
    },
  },
});
