import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { taskReports } from "../_delivery/tasks.ts";
import { invokeTool } from "../_runtime/invoke_tool.ts";
import type { Log } from "../_runtime/log.ts";
import type { GatewayAnswer } from "../_runtime/request.ts";
import { iso } from "../_runtime/time.ts";
import { readAssignment } from "../_table/assignments.ts";
import {
  changeSchedule,
  isCancelled,
  readSchedule,
  readScheduleInput,
  runsKept,
  type Schedule,
  type ScheduledRun,
  withRun,
} from "../_table/schedules.ts";
import { deleteTrigger } from "./trigger.ts";

const mostAttempts = 20;

/**
 * Works off one firing, however often and late it comes: the run is recorded before anything is assigned, and its
 * key is the schedule and the time that it was to run at.
 * @throws {Error} for trouble that may pass; a second firing, or `sweep`, goes on where this one stopped
 */
export async function fire(workspace: string, id: string, scheduledAt: number, log: Log): Promise<void> {
  let hasAsked = false;
  for (let attempt = 1; attempt <= mostAttempts; attempt++) {
    const found = await readSchedule(workspace, id);
    if (found === undefined || isCancelled(found)) {
      log.info("fired although it is cancelled; its trigger is removed");
      return deleteTrigger(workspace, id);
    }
    const held = found.runs.find(({ outcome }) => outcome === "held");
    if (held !== undefined && !hasAsked) {
      // Whether it was decided meanwhile is learnt by asking once more.
      await start(workspace, found, held, log);
      hasAsked = true;
      continue;
    }
    const run = await decide(workspace, found, scheduledAt);
    if (run === undefined) return log.info("fired a second time");
    const begun =
      found.runs.includes(run) || (await changeSchedule(workspace, found, { runs: withRun(found.runs, run) }));
    if (begun) {
      log.info("run", { outcome: run.outcome, error: run.error });
      return run.outcome === "starting" ? start(workspace, found, run, log) : undefined;
    }
    await sleep(Math.random() * Math.min(200, 5 * 2 ** attempt));
  }
  throw new Error("The schedule changes faster than a run of it can be recorded.");
}

/** What this firing is to do; undefined when it has been dealt with. */
async function decide(workspace: string, found: Schedule, scheduled_at: number): Promise<ScheduledRun | undefined> {
  const { runs, overlap } = found;
  const known = runs.find((run) => run.scheduled_at === scheduled_at);
  if (known !== undefined) return known.outcome === "starting" ? known : undefined;
  if (runs.length >= runsKept && scheduled_at < (runs[0]?.scheduled_at ?? 0)) return undefined;
  const fresh = (outcome: ScheduledRun["outcome"], error = ""): ScheduledRun => ({
    scheduled_at,
    outcome,
    changed_at: Date.now(),
    assignment_id: "",
    error,
  });
  if (runs.some((run) => run.scheduled_at > scheduled_at)) return fresh("skipped", "A later run came before it.");
  if (!(await isUnderWay(workspace, found))) return fresh("starting");
  if (overlap === "skip") return fresh("skipped", "The run before it had not ended.");
  return runs.some(({ outcome }) => outcome === "queued")
    ? fresh("skipped", "Another run was waiting already for the one before to end.")
    : fresh("queued");
}

const isUndecided = ({ outcome }: ScheduledRun) => outcome === "starting" || outcome === "queued" || outcome === "held";

/** Whether a run is being started, waits, or has work that has not ended by the clock. */
export async function isUnderWay(workspace: string, { runs }: Pick<Schedule, "runs">): Promise<boolean> {
  if (runs.some(isUndecided)) return true;
  const latest = runs.findLast(({ outcome }) => outcome === "started");
  const assignment = latest && (await readAssignment(workspace, latest.assignment_id));
  if (assignment === undefined || assignment.open === 0) return false;
  const tasks = await taskReports(workspace, assignment);
  return tasks.some(({ status }) => status === "assigned" || status === "running");
}

/** For so long trouble is taken to pass; then the run has failed. */
const giveUpMs = 3_600_000;

/** Assigns the work as the leader, by the tool's own Lambda, and records what came of it. Begun twice, it assigns once. */
export async function start(workspace: string, schedule: Schedule, run: ScheduledRun, log: Log): Promise<void> {
  const input = await readScheduleInput(workspace, schedule.id);
  if (input === undefined) return; // Cancelled at this very moment.
  const key = `${schedule.id}@${iso(run.scheduled_at)}`;
  const answer = await invokeTool("assign_agent_work", {
    direct: {
      via: "schedule",
      id: schedule.id,
      workspace,
      keyId: schedule.key_id,
      requestId: key,
      idempotencyKey: key,
      input,
    },
  });
  const { error, ...outcome } = readAnswer(answer);
  if (error?.retryable && outcome.outcome !== "held" && Date.now() - run.changed_at < giveUpMs)
    throw new Error(`assign_agent_work can't be run now: ${error.message}`);
  log.info("run ended", { outcome: outcome.outcome, error_type: error?.type });
  await record(workspace, schedule.id, {
    ...run,
    ...outcome,
    changed_at: Date.now(),
    error: error ? `${error.type}: ${error.message}` : outcome.why,
  });
}

const answerBody = z.object({
  assignment_id: z.string().default(""),
  tasks: z.array(z.object({ executor: z.string(), detailed: z.string(), task_id: z.string() })).default([]),
  error: z.object({ type: z.string(), message: z.string(), retryable: z.boolean() }).optional(),
});

interface Outcome {
  outcome: ScheduledRun["outcome"];
  assignment_id: string;
  why: string;
  error?: z.output<typeof answerBody>["error"];
}

function readAnswer({ body }: GatewayAnswer): Outcome {
  const { error, assignment_id, tasks } = answerBody.parse(JSON.parse(body));
  const isHeld = error?.type === "APPROVAL_REQUIRED";
  if (error !== undefined) return { outcome: isHeld ? "held" : "failed", assignment_id, why: "", error };
  if (assignment_id !== "") return { outcome: "started", assignment_id, why: "" };
  const reasons = new Set(tasks.filter(({ task_id }) => task_id === "").map(({ detailed }) => detailed));
  return { outcome: "rejected", assignment_id, why: [...reasons].join(" ").slice(0, 500).toWellFormed() };
}

/** Also of a schedule that was cancelled meanwhile: what was assigned stays assigned. */
async function record(workspace: string, id: string, run: ScheduledRun): Promise<void> {
  for (let attempt = 1; attempt <= mostAttempts; attempt++) {
    const found = await readSchedule(workspace, id);
    if (found === undefined) return;
    const known = found.runs.find(({ scheduled_at }) => scheduled_at === run.scheduled_at);
    if (known !== undefined && known.outcome !== "starting" && known.outcome !== "held") return; // Another delivery of the same firing was first.
    if (await changeSchedule(workspace, found, { runs: withRun(found.runs, run) })) return;
    await sleep(Math.random() * Math.min(200, 5 * 2 ** attempt));
  }
  throw new Error("The schedule changes faster than the end of a run can be recorded.");
}
