import { RetentionDays } from "aws-cdk-lib/aws-logs";
import type { Node } from "constructs";
import * as z from "zod";
import type { Contract } from "../functions/_runtime/contract.ts";
import { OperatorError, suggestion } from "./arguments.ts";
import { stageNamePattern } from "./names.ts";

const retentionDays = Object.values(RetentionDays).filter((days) => typeof days === "number");
const concurrency = z.int().min(1).max(10_000);

/** What an operator may choose for a stage: `context.stages.<stage>` in cdk.json, everything optional. */
const choices = z.strictObject({
  /** `retain` keeps table, bucket, queues, secret and logs when a stack is deleted, and protects the table. */
  removalPolicy: z.enum(["retain", "destroy"]).default("retain"),
  /** Encrypt with a key of this account instead of AWS's own; costs $1 a month and each use. */
  customerManagedKey: z.boolean().default(false),
  logRetentionDays: z.literal(retentionDays).default(RetentionDays.ONE_MONTH),
  /** Hears of alarms, once it has confirmed the subscription. Without it the topic has no subscriber. */
  alarmEmail: z.email().optional(),
  /** Origins of web pages that may call the API. */
  corsOrigins: z
    .array(z.union([z.literal("*"), z.string().regex(/^https?:\/\/[^/\s*]+$/, "must be like https://example.com")]))
    .default([]),
  /** `any` lets webhooks be plain HTTP and at private addresses: for tests only. */
  webhookTargets: z.enum(["public", "any"]).default("public"),
  /** Each route's share, in requests; beyond it API Gateway answers 429. */
  throttle: z
    .strictObject({
      ratePerSecond: z.int().min(1).max(10_000).default(100),
      burst: z.int().min(1).max(5_000).default(200),
    })
    .prefault({}),
  /** Overrides of the defaults in functions/_runtime/env.ts. */
  budgets: z
    .strictObject({
      callsPerSession: z.int().min(1).optional(),
      callsPerPairMinute: z.int().min(1).optional(),
      deliveryAttempts: z.int().min(1).max(20).optional(),
      retentionDays: z.int().min(31).optional(),
      auditRetentionDays: z.int().min(1).optional(),
    })
    .default({}),
  /** What a person must approve before it runs, and who hears of it. */
  approvals: z
    .strictObject({
      /** Tools that need it beside those whose contract says so. */
      tools: z.array(z.string()).default([]),
      /** How long a request waits for a decision. */
      hours: z.number().min(1).max(720).optional(),
      /** Hears of each request, once it has confirmed the subscription. Without it the topic has no subscriber. */
      email: z.email().optional(),
    })
    .prefault({}),
  deliveries: z
    .strictObject({
      /** Deliveries under way at a time. AWS allows 2 to 1000. */
      maximumConcurrency: z.int().min(2).max(1000).default(50),
    })
    .prefault({}),
  /**
   * Concurrency set apart, so that waiters never starve those that they wait for. Per function; absent: none,
   * since a new account's quota is small. `npm run preflight` compares it with the account's quota.
   */
  reservedConcurrency: z
    .strictObject({
      /** Each tool that can wait: it holds an execution for up to 25 s. */
      waiting: concurrency.optional(),
      /** Each tool that answers those who wait: reply_call, update_task. */
      replying: concurrency.optional(),
      delivering: concurrency.optional(),
      /** `mcp`, which holds an execution for each call that it relays: more than all waiting tools together. */
      relaying: concurrency.optional(),
    })
    .default({}),
  /** When an operator is told; see the runbook in the README. */
  alarms: z
    .strictObject({
      /** Age of the oldest wake-up in the queue. Above the longest pause before a retry. */
      queueAgeS: z.int().min(60).default(900),
      /** Calls and tasks that ended without an answer, in 15 minutes. */
      overdueIn15Minutes: z.int().min(1).default(25),
      /** Answers with status 5xx among all of 5 minutes, in percent; fewer than 5 of them never count. */
      serverErrorPercent: z.number().min(0.1).max(100).default(5),
    })
    .prefault({}),
});

/** A stage with all its choices, defaults filled in. */
export interface Context extends z.output<typeof choices> {
  stage: string;
}

const stages = z.record(z.string(), z.unknown());

/**
 * The chosen stage (`-c stage=…`, by default cdk.json's `context.stage`) with what cdk.json says of it.
 * @throws {OperatorError} one message that names each wrong value and where it stands
 */
export function readContext(node: Node, contracts: readonly Contract[]): Context {
  const all = stages.safeParse(node.tryGetContext("stages"));
  if (!all.success) throw new OperatorError("cdk.json: context.stages must be an object: each stage and its choices.");
  const stage = chosenStage(node, Object.keys(all.data));
  if (!stageNamePattern.test(stage)) {
    throw new OperatorError(`cdk.json: the stage name "${stage}" must be 1 to 16 of a-z, 0-9 and -, a letter first.`);
  }
  const misplaced = Object.keys(choices.shape).find((choice) => node.tryGetContext(choice) !== undefined);
  if (misplaced !== undefined) {
    throw new OperatorError(`"${misplaced}" is a stage's choice: state it in cdk.json, in context.stages.${stage}.`);
  }
  const parsed = choices.safeParse(all.data[stage]);
  if (!parsed.success) throw new OperatorError(explained(stage, parsed.error));
  assertCanBeApproved(stage, parsed.data.approvals.tools, contracts);
  return { stage, ...consistent(stage, parsed.data) };
}

/** @throws {OperatorError} when none is chosen, or one that cdk.json does not have */
function chosenStage(node: Node, names: readonly string[]): string {
  const stage: unknown = node.tryGetContext("stage");
  const known = names.length === 0 ? "it has none" : `it has ${names.join(", ")}`;
  if (stage === undefined) {
    throw new OperatorError(`Choose a stage of cdk.json with -c stage=NAME or context.stage; ${known}.`);
  }
  const found = names.find((name) => name === stage);
  if (found !== undefined) return found;
  throw new OperatorError(`There is no stage "${stage}" in cdk.json; ${known}.${suggestion(String(stage), names)}`);
}

function explained(stage: string, { issues }: z.ZodError): string {
  const lines = issues.flatMap((issue) => {
    const at = ["stages", stage, ...issue.path].join(".");
    if (issue.code !== "unrecognized_keys") return `  ${at}: ${issue.message}`;
    const known = choicesAt(issue.path);
    return issue.keys.map(
      (key) => `  ${at}: there is no choice "${key}".${suggestion(key, known) || ` There are ${known.join(", ")}.`}`,
    );
  });
  return `cdk.json has wrong values:\n${lines.join("\n")}`;
}

/** Only what changes something can be held back, and a decision can't itself wait for one. */
function assertCanBeApproved(stage: string, names: readonly string[], contracts: readonly Contract[]): void {
  const possible = contracts.filter((each) => each.sideEffect !== "none" && each.name !== "decide_approval");
  const known = possible.map(({ name }) => name);
  const wrong = names.find((name) => !known.includes(name));
  if (wrong === undefined) return;
  const why = contracts.some(({ name }) => name === wrong)
    ? "changes nothing that could be held back; take its permission from the keys instead"
    : `is no tool.${suggestion(wrong, known)}`;
  throw new OperatorError(`cdk.json: stages.${stage}.approvals.tools: "${wrong}" ${why}`);
}

/** What may stand at a place below a stage. */
function choicesAt(path: readonly PropertyKey[]): string[] {
  let at: unknown = z.toJSONSchema(choices, { io: "input" });
  for (const step of path) at = (at as z.core.JSONSchema.ObjectSchema).properties?.[String(step)];
  return Object.keys((at as z.core.JSONSchema.ObjectSchema).properties ?? {});
}

/** SQS reads as many messages as the mapping allows: above the reservation they would only be throttled, and count as received. */
function consistent(stage: string, chosen: z.output<typeof choices>): z.output<typeof choices> {
  const { maximumConcurrency } = chosen.deliveries;
  const { delivering } = chosen.reservedConcurrency;
  if (delivering === undefined || maximumConcurrency <= delivering) return chosen;
  throw new OperatorError(
    `cdk.json: stages.${stage}.deliveries.maximumConcurrency (${maximumConcurrency}) is above ` +
      `reservedConcurrency.delivering (${delivering}). Lower the one or raise the other.`,
  );
}
