import * as z from "zod";
import { nextRuns, type Plan, readExpression, TimingError } from "../../functions/_schedules/timing.ts";
import { zoneNamed } from "../../functions/_schedules/zone.ts";
import { AwsError } from "./aws_endpoint.ts";

/** CreateSchedule's body, as far as anything here reads it; instants are in seconds. */
const body = z.object({
  GroupName: z.string().default("default"),
  ClientToken: z.string().optional(),
  ScheduleExpression: z.string(),
  ScheduleExpressionTimezone: z.string().default("UTC"),
  StartDate: z.number().optional(),
  EndDate: z.number().optional(),
  FlexibleTimeWindow: z.discriminatedUnion("Mode", [
    z.strictObject({ Mode: z.literal("OFF") }),
    z.strictObject({ Mode: z.literal("FLEXIBLE"), MaximumWindowInMinutes: z.int().min(1).max(1440) }),
  ]),
  State: z.enum(["ENABLED", "DISABLED"]).default("ENABLED"),
  ActionAfterCompletion: z.enum(["NONE", "DELETE"]).default("NONE"),
  Target: z.object({
    Arn: z.string().regex(/^arn:aws:lambda:[\w-]+:\d{12}:function:[\w-]+$/),
    RoleArn: z.string().regex(/^arn:aws:iam::\d{12}:role\/.+$/),
    Input: z.string().default("{}"),
    DeadLetterConfig: z.object({ Arn: z.string() }).optional(),
    RetryPolicy: z
      .object({
        MaximumEventAgeInSeconds: z.int().min(60).max(86_400).default(86_400),
        MaximumRetryAttempts: z.int().min(0).max(185).default(185),
      })
      .prefault({}),
  }),
});
export type ScheduleRequest = z.output<typeof body>;

const invalid = (message: string) => new AwsError("ValidationException", message);

/** @throws {AwsError} ValidationException for what Scheduler refuses at creation */
export function readScheduleRequest(name: string, json: string, nowMs: number): ScheduleRequest {
  if (!/^[0-9a-zA-Z-_.]{1,64}$/.test(name))
    throw invalid(
      `1 validation error detected: Value '${name}' at 'name' failed to satisfy constraint: ` +
        "Member must satisfy regular expression pattern: ^[0-9a-zA-Z-_.]+$ and have a length of at most 64",
    );
  const parsed = body.safeParse(JSON.parse(json));
  if (!parsed.success) throw invalid(`1 validation error detected: ${z.prettifyError(parsed.error)}`);
  assertTiming(parsed.data, nowMs);
  return parsed.data;
}

const startGraceMs = 5 * 60_000;

function assertTiming(request: ScheduleRequest, nowMs: number): void {
  const { ScheduleExpression, ScheduleExpressionTimezone, StartDate, EndDate } = request;
  if (zoneNamed(ScheduleExpressionTimezone) !== ScheduleExpressionTimezone)
    throw invalid(`Invalid Schedule Expression Timezone ${ScheduleExpressionTimezone}.`);
  if (!isExpression(ScheduleExpression, ScheduleExpressionTimezone, nowMs))
    throw invalid(`Invalid Schedule Expression ${ScheduleExpression}.`);
  if (StartDate !== undefined && StartDate * 1000 < nowMs - startGraceMs)
    throw invalid("The StartDate you specify cannot be earlier than 5 minutes ago.");
  if (EndDate !== undefined && EndDate * 1000 < Math.max(nowMs, (StartDate ?? 0) * 1000))
    throw invalid("The EndDate you specify cannot be earlier than now or than the StartDate.");
}

/** Scheduler takes expressions only as they are written in its documentation, and no time that has passed. */
function isExpression(text: string, zone: string, nowMs: number): boolean {
  try {
    const { text: canonical, timing } = readExpression(text, zone);
    return canonical === text && (timing.kind !== "at" || timing.atMs > nowMs);
  } catch (error) {
    if (error instanceof TimingError) return false;
    throw error;
  }
}

/** The next run of a schedule after an instant (ms). A rate without a start began when it was made. */
export function nextRunOf(request: ScheduleRequest, createdMs: number, afterMs: number): number | undefined {
  const { ScheduleExpression, ScheduleExpressionTimezone, StartDate, EndDate } = request;
  const plan: Plan = {
    expression: ScheduleExpression,
    timezone: ScheduleExpressionTimezone,
    start_at: StartDate === undefined ? createdMs : StartDate * 1000,
    end_at: EndDate === undefined ? undefined : EndDate * 1000,
  };
  return nextRuns(plan, afterMs, 1)[0];
}
