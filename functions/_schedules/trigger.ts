import {
  ActionAfterCompletion,
  ConflictException,
  CreateScheduleCommand,
  DeleteScheduleCommand,
  FlexibleTimeWindowMode,
  ResourceNotFoundException,
  ServiceQuotaExceededException,
  ValidationException,
} from "@aws-sdk/client-scheduler";
import { scheduler } from "../_runtime/clients.ts";
import { env } from "../_runtime/env.ts";
import { triggerName } from "../_table/keys.ts";
import type { Schedule } from "../_table/schedules.ts";
import { nextRuns } from "./timing.ts";

/** EventBridge Scheduler will not have this schedule, now or later; the message says why. */
export class TriggerRefused extends Error {
  override readonly name = "TriggerRefused";
}

/** After so long EventBridge Scheduler gives a firing up and puts it into the dead-letter queue. */
const oldestFiringS = 3_600;

/**
 * Makes the schedule's trigger, unless it is there: its name follows from the schedule's id.
 * @throws {TriggerRefused}
 */
export async function createTrigger(workspace: string, schedule: Schedule): Promise<void> {
  const { SCHEDULE_GROUP, SCHEDULE_TARGET_ARN, SCHEDULE_ROLE_ARN, SCHEDULE_DEAD_LETTERS_ARN } = env();
  const { id, expression, timezone, end_at, flexible_minutes } = schedule;
  try {
    await scheduler.send(
      new CreateScheduleCommand({
        Name: triggerName(workspace, id),
        GroupName: SCHEDULE_GROUP,
        ClientToken: id,
        ScheduleExpression: expression,
        ScheduleExpressionTimezone: timezone,
        StartDate: startDate(schedule, Date.now()),
        EndDate: end_at === undefined ? undefined : new Date(end_at),
        FlexibleTimeWindow:
          flexible_minutes === 0
            ? { Mode: FlexibleTimeWindowMode.OFF }
            : { Mode: FlexibleTimeWindowMode.FLEXIBLE, MaximumWindowInMinutes: flexible_minutes },
        ActionAfterCompletion: ActionAfterCompletion.DELETE,
        Target: {
          Arn: SCHEDULE_TARGET_ARN,
          RoleArn: SCHEDULE_ROLE_ARN,
          Input: JSON.stringify({ workspace, schedule_id: id, scheduled_time: "<aws.scheduler.scheduled-time>" }),
          RetryPolicy: { MaximumEventAgeInSeconds: oldestFiringS, MaximumRetryAttempts: 185 },
          ...(SCHEDULE_DEAD_LETTERS_ARN !== undefined && { DeadLetterConfig: { Arn: SCHEDULE_DEAD_LETTERS_ARN } }),
        },
      }),
    );
  } catch (error) {
    if (error instanceof ConflictException) return; // It is there already.
    if (error instanceof ValidationException || error instanceof ServiceQuotaExceededException)
      throw new TriggerRefused(error.message, { cause: error });
    throw error;
  }
}

/** A start further back would be refused. */
const startGraceMs = 4 * 60_000;

/** A rate counts from its start, so it is always given; a cron needs one only to begin later. */
function startDate(schedule: Schedule, nowMs: number): Date | undefined {
  const { expression, start_at } = schedule;
  if (expression.startsWith("at(") || (expression.startsWith("cron(") && start_at <= nowMs)) return undefined;
  const first = start_at > nowMs - startGraceMs ? start_at : nextRuns(schedule, nowMs, 1)[0];
  return first === undefined ? undefined : new Date(first);
}

/** Removes a schedule's trigger, if it is there. */
export async function deleteTrigger(workspace: string, id: string): Promise<void> {
  try {
    await scheduler.send(
      new DeleteScheduleCommand({ Name: triggerName(workspace, id), GroupName: env().SCHEDULE_GROUP }),
    );
  } catch (error) {
    if (!(error instanceof ResourceNotFoundException)) throw error;
  }
}
