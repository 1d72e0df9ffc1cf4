import { isDeepStrictEqual } from "node:util";
import { type AwsAnswer, AwsError, type AwsRequest, type AwsService } from "./aws_endpoint.ts";
import { localAccount, localIdentity } from "./client_config.ts";
import { nextRunOf, readScheduleRequest, type ScheduleRequest } from "./scheduler_request.ts";
import { type Firing, SchedulerStore, type StoredSchedule } from "./scheduler_store.ts";
import { settled } from "./settled.ts";

/** The one schedule group, as a stage has one. */
export const localGroup = "switchboard";

export const lambdaArn = (name: string) => `arn:aws:lambda:${localIdentity.region}:${localAccount}:function:${name}`;
export const schedulerRoleArn = `arn:aws:iam::${localAccount}:role/scheduler`;

const tickMs = 250;
const longestRetryMs = 60_000;

/** Runs a function by its name. @throws {Error} when it fails */
export type Invoke = (functionName: string, event: unknown) => Promise<unknown>;

/**
 * Stands in for EventBridge Scheduler: its API for the SDK's client, and its clock. Runs are delivered at least
 * once and tried again as the retry policy says. What was due while it was down runs once when it starts; of a
 * recurring schedule that is the earliest missed run, and the others are left out.
 */
export class Scheduler {
  readonly #store: SchedulerStore;
  readonly #running = new Map<number, Promise<void>>();
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  /** @param dataDir where schedules survive a restart; undefined: in memory */
  constructor(dataDir: string | undefined) {
    this.#store = new SchedulerStore(dataDir);
  }

  /** Begins to fire. The clock is looked at often, so that also one that jumps (a laptop that slept) is followed. */
  start(invoke: Invoke): void {
    this.#timer = setInterval(() => this.#tick(invoke), tickMs);
  }

  /** Fires no more and waits for what runs, at most `graceMs`; what is left behind is tried again at the next start. */
  async stop(graceMs: number): Promise<void> {
    clearInterval(this.#timer);
    await settled(this.#running.values(), graceMs);
    this.#isStopped = true;
  }

  close(): void {
    this.#store.close();
  }

  /** CreateSchedule, GetSchedule and DeleteSchedule. */
  readonly service: AwsService = (request) => {
    const [, name] = /^\/schedules\/([^/]+)$/.exec(request.path) ?? [];
    if (name === undefined) return undefined;
    const group = request.query.get("groupName") ?? "default";
    switch (request.method) {
      case "POST":
        return this.#create(name, request);
      case "GET":
        return { body: described(this.#find(group, name)) };
      case "DELETE":
        if (!this.#store.remove(group, name)) throw missing(name);
        return { body: {} };
      default:
        return undefined;
    }
  };

  /** Makes a schedule, or puts it in place of one that has its name. */
  put(name: string, request: object): void {
    const now = Date.now();
    const read = readScheduleRequest(name, JSON.stringify({ ...request, GroupName: localGroup }), now);
    this.#store.put({ name, request: read, createdAt: now, nextAt: firstRun(read, now) });
  }

  #create(name: string, { body }: AwsRequest): AwsAnswer {
    const now = Date.now();
    const request = readScheduleRequest(name, body, now);
    if (request.GroupName !== localGroup)
      throw new AwsError("ResourceNotFoundException", `Schedule group ${request.GroupName} does not exist.`, 404);
    const existing = this.#store.find(request.GroupName, name);
    if (existing === undefined) this.#store.put({ name, request, createdAt: now, nextAt: firstRun(request, now) });
    // The same request, sent again by the SDK, is answered as it was the first time.
    else if (request.ClientToken === undefined || !isDeepStrictEqual(existing.request, request))
      throw new AwsError("ConflictException", `Schedule ${name} already exists.`, 409);
    return { body: { ScheduleArn: arnOf(request.GroupName, name) } };
  }

  #find(group: string, name: string): StoredSchedule {
    const found = this.#store.find(group, name);
    if (found === undefined) throw missing(name);
    return found;
  }

  #tick(invoke: Invoke): void {
    const now = Date.now();
    for (const schedule of this.#store.due(now)) {
      const { request, createdAt } = schedule;
      const { FlexibleTimeWindow: window } = request;
      const delayMs = window.Mode === "OFF" ? 0 : Math.random() * window.MaximumWindowInMinutes * 60_000;
      this.#store.fire(schedule, Math.floor(now + delayMs), nextRunOf(request, createdAt, now));
    }
    for (const firing of this.#store.dueFirings(now)) {
      if (this.#running.has(firing.id)) continue;
      const run = this.#run(firing, invoke).finally(() => this.#running.delete(firing.id));
      this.#running.set(firing.id, run);
    }
  }

  async #run(firing: Firing, invoke: Invoke): Promise<void> {
    const { target, scheduledAt, attempts } = firing;
    const time = `${new Date(scheduledAt).toISOString().slice(0, 19)}Z`;
    try {
      const event = JSON.parse(target.Input.replaceAll("<aws.scheduler.scheduled-time>", time));
      await invoke(target.Arn.split(":").at(-1) ?? "", event);
      if (!this.#isStopped) this.#store.done(firing);
    } catch (error) {
      // What ends after that is tried again at the next start.
      if (this.#isStopped) return;
      const { MaximumRetryAttempts, MaximumEventAgeInSeconds } = target.RetryPolicy;
      const isLast = attempts >= MaximumRetryAttempts || Date.now() - scheduledAt > MaximumEventAgeInSeconds * 1000;
      console.error(`scheduler: a run of ${time} failed${isLast ? " and is given up" : ""}:`, error);
      if (isLast) this.#store.done(firing);
      else this.#store.retry(firing, Date.now() + Math.min(longestRetryMs, 1_000 * 2 ** attempts));
    }
  }
}

/** A rate runs at its start, which is now unless it says otherwise. */
function firstRun(request: ScheduleRequest, nowMs: number): number | undefined {
  return request.State === "ENABLED" ? nextRunOf(request, nowMs, firstAfter(request, nowMs)) : undefined;
}

/** A start may lie some minutes back and still be the first run. */
function firstAfter({ ScheduleExpression, StartDate }: ScheduleRequest, nowMs: number): number {
  if (!ScheduleExpression.startsWith("rate(")) return nowMs;
  return Math.min(nowMs, StartDate === undefined ? nowMs : StartDate * 1000) - 1;
}

const arnOf = (group: string, name: string) =>
  `arn:aws:scheduler:${localIdentity.region}:${localAccount}:schedule/${group}/${name}`;

const missing = (name: string) => new AwsError("ResourceNotFoundException", `Schedule ${name} does not exist.`, 404);

const described = ({ name, request, createdAt }: StoredSchedule) => {
  const { ClientToken: _, ...rest } = request;
  return { ...rest, Name: name, Arn: arnOf(request.GroupName, name), CreationDate: createdAt / 1000 };
};
