import type * as z from "zod";
import { mustLead } from "../_delivery/agents.ts";
import { ToolError } from "../_runtime/errors.ts";
import { assertBytes, assertTexts, limits } from "../_runtime/limits.ts";
import { type Context, serve } from "../_runtime/serve.ts";
import { completeCreation } from "../_schedules/lifecycle.ts";
import { lastRunOf, readPlan } from "../_schedules/plan.ts";
import { returnsOf } from "../_schedules/returns.ts";
import { TimingError } from "../_schedules/timing.ts";
import { TriggerRefused } from "../_schedules/trigger.ts";
import { type Agent, readAgent } from "../_table/agents.ts";
import { forgetWrites, rememberWrites } from "../_table/idempotency.ts";
import { scheduleId } from "../_table/keys.ts";
import { randomPart } from "../_table/messages.ts";
import { newScheduleWrites, readSchedule, type Schedule, undoScheduleWrites } from "../_table/schedules.ts";
import { assertSessionUser, readSession } from "../_table/sessions.ts";
import { transact } from "../_table/table.ts";
import { contract } from "./contract.ts";

type Input = z.output<typeof contract.input>;

export const handler = serve(contract, async (input, context) => {
  const { workspace, repeat } = context;
  if (repeat?.effect !== undefined) return stateNow(workspace, repeat.effect);
  assertWork(input);
  const made = await make(context, input);
  const writes = newScheduleWrites(workspace, made, workOf(input, made), lastRunOf(made));
  await transact([...writes, ...rememberWrites(repeat, made.id)]);
  context.log.appendKeys({ schedule_id: made.id });
  await trigger(context, made);
  return returnsOf(made);
});

/** @throws {ToolError} INVALID_INPUT, CONTENT_TOO_LARGE */
function assertWork(input: Input): void {
  if (input.tasks.length === 0)
    throw new ToolError("INVALID_INPUT", "tasks: a schedule without a task would assign nothing.", {
      hint: 'Name at least one: [{"name": "report", "executor": "writer", "content": "Write the daily report."}].',
    });
  assertTexts(input.content, []);
  for (const [index, { content }] of input.tasks.entries()) assertTexts(content, [], `tasks[${index}].content`);
  assertBytes("content and tasks", JSON.stringify([input.content, input.tasks]), limits.scheduledBytes);
}

async function make({ workspace, principal }: Context, input: Input): Promise<Schedule> {
  const now = Date.now();
  const { user_name, project_name, options } = input;
  const plan = planOf(input, now);
  const leader = await mayLead(workspace, input);
  const id = scheduleId(now, randomPart());
  return {
    ...plan,
    id,
    name: input.name,
    // Without a session of the caller's, the runs share one of their own.
    session_id: input.session_id || id,
    user_name,
    leader: leader.name,
    project_name,
    tasks: input.tasks.map(({ name, executor }) => ({ name, executor })),
    flexible_minutes: options.flexible_window_minutes,
    overlap: options.overlap,
    key_id: principal.keyId,
    created_at: now,
    status: "creating",
    reason: "",
    revision: 0,
    runs: [],
  };
}

/** @throws {ToolError} INVALID_SCHEDULE, with a right example */
function planOf({ schedule, timezone, options: { start, end } }: Input, now: number) {
  try {
    return readPlan({ schedule, timezone: timezone || "UTC", start, end }, now);
  } catch (error) {
    if (!(error instanceof TimingError)) throw error;
    throw new ToolError("INVALID_SCHEDULE", `${error.message}.`, {
      hint: `For example: ${error.example}.`,
      details: { example: error.example },
    });
  }
}

/** @throws {ToolError} LEADER_NOT_FOUND, NOT_A_LEADER, SESSION_USER_MISMATCH; executors are judged at each run */
async function mayLead(workspace: string, { leader, session_id, user_name }: Input): Promise<Agent> {
  const [agent, session] = await Promise.all([
    readAgent(workspace, leader),
    session_id === "" ? undefined : readSession(workspace, session_id),
  ]);
  assertSessionUser(session, user_name);
  return mustLead(workspace, agent, leader);
}

/** What each run gives to assign_agent_work. */
function workOf({ content, tasks, options: { deadline_s } }: Input, made: Schedule): Record<string, unknown> {
  const { session_id, user_name, leader, project_name } = made;
  const work = { session_id, user_name, leader, content, project_name, tasks };
  return deadline_s === undefined ? work : { ...work, deadline_s };
}

/**
 * The schedule is made by now: what fails in passing here, `sweep` does later.
 * @throws {ToolError} INVALID_SCHEDULE when EventBridge Scheduler refuses it; then nothing is left of it
 */
async function trigger({ workspace, repeat, log }: Context, made: Schedule): Promise<void> {
  try {
    await completeCreation(workspace, made);
  } catch (error) {
    if (!(error instanceof TriggerRefused)) {
      log.error("the trigger is not there yet; sweep makes it", error as Error);
      return;
    }
    await transact([...undoScheduleWrites(workspace, made), ...forgetWrites(repeat)]);
    throw new ToolError("INVALID_SCHEDULE", "EventBridge Scheduler refuses this schedule.", {
      hint: "A time that lies in the next minute may have passed meanwhile; otherwise simplify the expression, for example cron(0 9 ? * MON-FRI *).",
    });
  }
}

async function stateNow(workspace: string, id: string) {
  const schedule = await readSchedule(workspace, id);
  if (schedule === undefined) throw new Error(`Schedule ${id} is not there.`);
  return returnsOf(schedule);
}
