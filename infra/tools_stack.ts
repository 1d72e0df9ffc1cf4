import { ArnFormat, Stack, type StackProps } from "aws-cdk-lib";
import { SqsEventSource } from "aws-cdk-lib/aws-lambda-event-sources";
import type { Construct } from "constructs";
import type { Contract } from "../functions/_runtime/contract.ts";
import { repositoriesPrefix } from "../functions/_table/keys.ts";
import { workerEntry } from "./bundle.ts";
import { SchedulerRole, Schedules } from "./constructs/schedules.ts";
import { type Surroundings, SwitchboardFunction } from "./constructs/switchboard_function.ts";
import { ToolApi } from "./constructs/tool_api.ts";
import { gatewayTimeoutS, ToolFunction } from "./constructs/tool_function.ts";
import type { Context } from "./context.ts";
import type { DataStack } from "./data_stack.ts";
import { abilitiesOfWorker } from "./grants.ts";
import { functionName, idOf, metricsNamespace, prefixOf, type WorkerName } from "./names.ts";
import { deliverTimeoutS } from "./queues.ts";

interface ToolsStackProps extends StackProps {
  context: Context;
  contracts: readonly Contract[];
  data: DataStack;
}

/** What runs: one Lambda per contract behind the HTTP API, and the workers. */
export class ToolsStack extends Stack {
  readonly apiId: string;

  constructor(scope: Construct, id: string, { context, contracts, data, ...props }: ToolsStackProps) {
    super(scope, id, props);
    // Imported by name, so that the name is known to whoever must state the resource.
    const bucketArn = data.exportValue(data.repositories.bucketArn);
    // By name, since functions that run others, or have them run, may be among those themselves.
    const functionArn = (name: string) =>
      this.formatArn({
        service: "lambda",
        resource: "function",
        resourceName: functionName(context.stage, name),
        arnFormat: ArnFormat.COLON_RESOURCE_NAME,
      });
    const runRole = new SchedulerRole(this, "RunScheduleSchedulerRole", functionArn("run_schedule"));
    const surroundings: Surroundings = {
      context,
      reachable: {
        tableArn: data.table.tableArn,
        queueArn: data.messages.queueArn,
        rootSecretArn: data.rootSecretArn,
        repositoriesArn: `${bucketArn}/${repositoriesPrefix}*`,
        repositoriesFinding: `${this.resolve(bucketArn)["Fn::ImportValue"]}/${repositoriesPrefix}*`,
        toolArns: contracts.map(({ name }) => functionArn(name)),
        schedulesArn: this.formatArn({
          service: "scheduler",
          resource: "schedule",
          resourceName: `${prefixOf(context.stage)}/*`,
        }),
        schedulerRoleArn: runRole.roleArn,
        approvalsTopicArn: data.approvalsTopicArn,
      },
      settings: {
        ...settingsOf(context, data),
        SCHEDULE_TARGET_ARN: functionArn("run_schedule"),
        SCHEDULE_ROLE_ARN: runRole.roleArn,
      },
    };
    const worker = (
      name: WorkerName,
      size: { timeoutS: number; memoryMb: number; reservedConcurrency?: number | undefined },
    ) =>
      new SwitchboardFunction(this, idOf(name), {
        ...surroundings,
        ...size,
        name,
        entry: workerEntry(name),
        abilities: abilitiesOfWorker[name],
      });

    const tools = new Map(contracts.map((contract) => [contract.name, new ToolFunction(this, contract, surroundings)]));
    const { api } = new ToolApi(this, "Api", {
      context,
      tools,
      catalog: worker("catalog", { timeoutS: 15, memoryMb: 512 }),
      // It waits as long as the tools that it runs.
      mcp: worker("mcp", {
        timeoutS: gatewayTimeoutS,
        memoryMb: 512,
        reservedConcurrency: context.reservedConcurrency.relaying,
      }),
    });

    this.apiId = api.apiId;

    const deliver = worker("deliver", {
      timeoutS: deliverTimeoutS,
      memoryMb: 256,
      reservedConcurrency: context.reservedConcurrency.delivering,
    });
    deliver.addEventSource(
      new SqsEventSource(data.messages, {
        // A wake-up that waits for a slow agent holds back no other group's.
        batchSize: 1,
        reportBatchItemFailures: true,
        // Not a reservation, whose throttling would use up receive counts.
        maxConcurrency: context.deliveries.maximumConcurrency,
      }),
    );

    new Schedules(this, "Schedules", {
      context,
      sweep: worker("sweep", { timeoutS: 300, memoryMb: 512 }),
      // It waits for assign_agent_work, whose own limit is the gateway's.
      runSchedule: worker("run_schedule", { timeoutS: 60, memoryMb: 256 }),
      lostRuns: data.lostRuns,
      role: runRole,
    });
  }
}

/** The functions' settings (`functions/_runtime/env.ts`); what the operator doesn't choose keeps its default there. */
function settingsOf(
  { stage, budgets, approvals, webhookTargets, corsOrigins }: Context,
  data: DataStack,
): Record<string, string> {
  const chosen = {
    CALLS_PER_SESSION: budgets.callsPerSession,
    CALLS_PER_PAIR_MINUTE: budgets.callsPerPairMinute,
    DELIVERY_ATTEMPTS: budgets.deliveryAttempts,
    RETENTION_DAYS: budgets.retentionDays,
    AUDIT_RETENTION_DAYS: budgets.auditRetentionDays,
    APPROVAL_HOURS: approvals.hours,
  };
  return {
    TABLE_NAME: data.table.tableName,
    MESSAGES_QUEUE_URL: data.messages.queueUrl,
    REPOSITORIES_BUCKET: data.repositories.bucketName,
    ROOT_SECRET_ID: data.rootSecretArn,
    APPROVALS_TOPIC_ARN: data.approvalsTopicArn,
    APPROVAL_TOOLS: approvals.tools.join(","),
    FUNCTION_PREFIX: functionName(stage, ""),
    SCHEDULE_GROUP: prefixOf(stage),
    SCHEDULE_DEAD_LETTERS_ARN: data.lostRuns.queueArn,
    WEBHOOK_TARGETS: webhookTargets,
    ...(corsOrigins.length > 0 && { ALLOWED_ORIGINS: corsOrigins.join(",") }),
    METRICS_NAMESPACE: metricsNamespace,
    STAGE: stage,
    ...Object.fromEntries(
      Object.entries(chosen).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
    ),
  };
}
