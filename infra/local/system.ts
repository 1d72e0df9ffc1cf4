import { randomBytes } from "node:crypto";
import { queues } from "../queues.ts";
import { startAwsEndpoint } from "./aws_endpoint.ts";
import { ensureBucket } from "./buckets.ts";
import { type DataDir, openDataDir } from "./data_dir.ts";
import { ensureTable, startDynamodb } from "./dynamodb.ts";
import { applyEnvironment, environmentFor } from "./environment.ts";
import { startFauxqs } from "./fauxqs.ts";
import type { Functions } from "./functions.ts";
import { startGateway } from "./gateway.ts";
import { type LambdaHandler, lambdaService } from "./lambda.ts";
import { Poller } from "./poller.ts";
import { createQueues } from "./queues.ts";
import { type Invoke, lambdaArn, localGroup, Scheduler, schedulerRoleArn } from "./scheduler.ts";
import { secretsManager } from "./secrets_manager.ts";
import { sns, type TopicNotice } from "./sns.ts";

interface SystemOptions {
  /** 0 takes a free one. */
  port: number;
  /** Where data survives a restart; undefined: in memory. */
  dataDir?: string | undefined;
  /** A DynamoDB that runs already; undefined starts the bundled engine. */
  dynamodbEndpoint?: string | undefined;
  /** An SQS and S3 that run already; undefined starts them in this process. */
  fauxqsEndpoint?: string | undefined;
  tableName?: string | undefined;
  /** Ends in `.fifo`. */
  queueName?: string | undefined;
  bucketName?: string | undefined;
  /** A token that shall work with every permission; undefined: the kept one or a new one. */
  key?: string | undefined;
  /** Settings of `functions/_runtime/env.ts` that differ from the defaults. */
  env?: Record<string, string>;
  /** 0: nothing is swept, also not at the start; otherwise a schedule runs sweep every minute, as on AWS. */
  sweepEveryMs?: 0;
  /** Run in place of the repository's functions. */
  functions?: Functions;
  /** Hears what the operators' topic would. */
  onNotice?: (notice: TopicNotice) => void;
}

export interface System {
  url: string;
  port: number;
  /** Token of a key with every permission, for every agent. */
  key: string;
  /** The settings with which other processes reach this system's table and queue. */
  env: Record<string, string>;
  functions: Functions;
  /** Ends the parts in order. What still runs after `graceMs` is left behind; the next start delivers the rest. */
  stop(graceMs?: number): Promise<void>;
}

const rootSecretId = "switchboard/root-secret";

/**
 * Starts the whole system on 127.0.0.1. Once per process: the functions read `process.env`, which this sets.
 * @throws {OperatorError} for instance when the port is taken; whatever had been started is stopped again
 */
export async function startSystem(options: SystemOptions): Promise<System> {
  const stops: Stop[] = [];
  const stop = async (graceMs = 5_000) => {
    for (const end of stops.splice(0).reverse()) await end(graceMs);
  };
  try {
    return { ...(await startParts(options, stops)), stop };
  } catch (error) {
    await stop(0);
    throw error;
  }
}

type Stop = (graceMs: number) => Promise<void> | void;

/** Starts part after part, and puts how to stop each on `stops`. */
async function startParts(options: SystemOptions, stops: Stop[]): Promise<Omit<System, "stop">> {
  const dataDir = options.dataDir === undefined ? undefined : openDataDir(options.dataDir);
  stops.push(() => dataDir?.close());
  /** Filled when the functions are loaded: they need the engines' addresses first. */
  const invoked = new Map<string, LambdaHandler>();
  const scheduler = new Scheduler(dataDir?.path);
  stops.push(() => scheduler.close());
  const env = { ...(await startEngines(options, { dataDir, invoked, scheduler }, stops)), ...options.env };
  applyEnvironment(env);
  // Loaded only now: these read the environment.
  const { ensureLocalKey, readGivenKey } = await import("./local_key.ts");
  const { invokedOf, loadFunctions, routesOf } = await import("./functions.ts");
  const functions = options.functions ?? (await loadFunctions());
  for (const [name, handler] of invokedOf(functions)) invoked.set(name, handler);
  const key = await ensureLocalKey(options.key === undefined ? undefined : readGivenKey(options.key), dataDir);
  const poller = new Poller(String(env.MESSAGES_QUEUE_URL), functions.deliver);
  stops.push((graceMs) => poller.stop(graceMs));
  if (options.sweepEveryMs !== 0) stops.push(sweepFromNowOn(functions, scheduler));
  scheduler.start(invokeFrom(invoked));
  stops.push((graceMs) => scheduler.stop(graceMs));
  const gateway = await startGateway({ routes: routesOf(functions), fallback: functions.catalog, port: options.port });
  stops.push(gateway.stop);
  return { url: gateway.url, port: gateway.port, key, env, functions };
}

interface Parts {
  dataDir: DataDir | undefined;
  invoked: ReadonlyMap<string, LambdaHandler>;
  scheduler: Scheduler;
}

/** Starts what stands in for AWS's services; returns the settings with which the functions reach it. */
async function startEngines(options: SystemOptions, { dataDir, invoked, scheduler }: Parts, stops: Stop[]) {
  const { tableName = "switchboard", queueName = queues.messages.name, bucketName = "switchboard" } = options;
  const dynamodb = await startDynamodb(options.dynamodbEndpoint, options.dataDir);
  stops.push(dynamodb.stop);
  const fauxqs = options.fauxqsEndpoint === undefined ? await startFauxqs(options.dataDir) : undefined;
  if (fauxqs) stops.push(fauxqs.stop);
  const fauxqsEndpoint = options.fauxqsEndpoint ?? String(fauxqs?.endpoint);
  const aws = await startAwsEndpoint([
    secretsManager(new Map([[rootSecretId, rootSecret(dataDir)]])),
    lambdaService(invoked),
    scheduler.service,
    sns(options.onNotice ?? (() => {})),
  ]);
  stops.push(aws.stop);
  await ensureTable(dynamodb.endpoint, tableName);
  await ensureBucket(fauxqsEndpoint, bucketName);
  const queueUrl = await createQueues(fauxqsEndpoint, queueName);
  return environmentFor({
    awsEndpoint: aws.endpoint,
    dynamodbEndpoint: dynamodb.endpoint,
    tableName,
    queueUrl,
    s3Endpoint: fauxqsEndpoint,
    bucketName,
    rootSecretId,
    scheduleGroup: localGroup,
    scheduleTargetArn: lambdaArn("run_schedule"),
    scheduleRoleArn: schedulerRoleArn,
  });
}

const invokeFrom =
  (functions: ReadonlyMap<string, LambdaHandler>): Invoke =>
  async (name, event) => {
    const handler = functions.get(name);
    if (handler === undefined) throw new Error(`There is no function ${name}.`);
    return handler(event as never);
  };

/** Reaches over the longest pause before a retry, so that everything undelivered gets its wake-up back. */
const afterStartS = 120;

/**
 * Sweeps at once, since the queue starts empty and its wake-ups must come from the table, and from then on by the
 * same schedule as on AWS. @returns how to wait for the first sweep
 */
function sweepFromNowOn({ sweep }: Functions, scheduler: Scheduler): Stop {
  const swept = sweep({ ahead_s: afterStartS }).catch((error: unknown) => console.error("sweep failed:", error));
  scheduler.put("sweep", {
    ScheduleExpression: "rate(1 minute)",
    StartDate: Math.ceil(Date.now() / 1000) + 60,
    FlexibleTimeWindow: { Mode: "OFF" },
    Target: { Arn: lambdaArn("sweep"), RoleArn: schedulerRoleArn, RetryPolicy: { MaximumRetryAttempts: 0 } },
  });
  return () => swept;
}

/** Webhook secrets are derived from it, so it must be the same after a restart. */
function rootSecret(dataDir: DataDir | undefined): string {
  const kept = dataDir?.read("root-secret");
  if (kept) return kept;
  const secret = randomBytes(32).toString("hex");
  dataDir?.write("root-secret", secret);
  return secret;
}
