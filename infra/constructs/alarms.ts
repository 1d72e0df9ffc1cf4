import { Duration } from "aws-cdk-lib";
import {
  Alarm,
  ComparisonOperator,
  type IMetric,
  MathExpression,
  Metric,
  type MetricOptions,
  TreatMissingData,
} from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import type { ITopic } from "aws-cdk-lib/aws-sns";
import { Construct } from "constructs";
import type { Context } from "../context.ts";
import { functionName, idOf, logGroupName, metricsNamespace, prefixOf, queueName } from "../names.ts";
import { queues } from "../queues.ts";

const fiveMinutes = Duration.minutes(5);
const sum = (options: Omit<MetricOptions, "statistic"> & { namespace: string; metricName: string }) =>
  new Metric({ period: fiveMinutes, ...options, statistic: "Sum" });

/** AWS's own metrics of a stage's parts, and those that our code emits; found by name, so that no stack depends on another's parts. */
export const metrics = {
  ofFunction: (stage: string, name: string, metricName: string, options: MetricOptions = {}) =>
    new Metric({
      namespace: "AWS/Lambda",
      metricName,
      dimensionsMap: { FunctionName: functionName(stage, name) },
      period: fiveMinutes,
      ...options,
    }),
  ofQueue: (stage: string, queue: keyof typeof queues, metricName: string) =>
    new Metric({
      namespace: "AWS/SQS",
      metricName,
      dimensionsMap: { QueueName: queueName(stage, queues[queue].name) },
      statistic: "Maximum",
      period: Duration.minutes(1),
    }),
  ofLog: (stage: string, name: string) =>
    sum({
      namespace: "AWS/Logs",
      metricName: "IncomingBytes",
      dimensionsMap: { LogGroupName: logGroupName(stage, name) },
    }).with({ label: name }),
  ofApi: (apiId: string, metricName: string, statistic: string) =>
    new Metric({
      namespace: "AWS/ApiGateway",
      metricName,
      dimensionsMap: { ApiId: apiId },
      statistic,
      period: fiveMinutes,
    }),
  own: (stage: string, metricName: string, dimension: Record<string, string> = {}) =>
    sum({ namespace: metricsNamespace, metricName, dimensionsMap: { Stage: stage, ...dimension } }),
};

/** One failure among three requests of a quiet night is no news. */
const fewServerErrors = 5;

const serverErrorPercent = (apiId: string) =>
  new MathExpression({
    expression: `IF(errors >= ${fewServerErrors}, 100 * errors / requests, 0)`,
    usingMetrics: { errors: metrics.ofApi(apiId, "5xx", "Sum"), requests: metrics.ofApi(apiId, "Count", "Sum") },
    label: "5xx among all answers (%)",
    period: fiveMinutes,
  });

interface AlarmsProps {
  context: Context;
  apiId: string;
  /** Every function of the stage, by name. */
  functions: readonly string[];
  topic: ITopic;
}

/** What an operator must hear of; each has a section in the README's runbook under its own name. */
export class Alarms extends Construct {
  readonly #stage: string;
  readonly #topic: ITopic;

  constructor(scope: Construct, id: string, { context, apiId, functions, topic }: AlarmsProps) {
    super(scope, id);
    const { stage, alarms } = context;
    this.#stage = stage;
    this.#topic = topic;

    this.#alarm("dead-letters", "Wake-ups that our code could not process", {
      metric: metrics.ofQueue(stage, "deadLetters", "ApproximateNumberOfMessagesVisible"),
      threshold: 1,
    });
    this.#alarm("lost-runs", "Runs of schedules that could not be delivered", {
      metric: metrics.ofQueue(stage, "lostRuns", "ApproximateNumberOfMessagesVisible"),
      threshold: 1,
    });
    this.#alarm("queue-age", "Deliveries fall behind", {
      metric: metrics.ofQueue(stage, "messages", "ApproximateAgeOfOldestMessage"),
      threshold: alarms.queueAgeS,
      evaluationPeriods: 5,
    });
    this.#alarm("server-errors", "The API answers with 5xx", {
      metric: serverErrorPercent(apiId),
      threshold: alarms.serverErrorPercent,
    });
    this.#alarm("sweep-stopped", "Sweep has not run for five minutes: what is overdue or lost its wake-up stays so", {
      metric: metrics.ofFunction(stage, "sweep", "Invocations", { statistic: "Sum" }),
      threshold: 1,
      comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
      treatMissingData: TreatMissingData.BREACHING,
    });
    this.#alarm("overdue", "Calls and tasks end without an answer", {
      metric: metrics.own(stage, "MessagesEnded", { Status: "timed_out" }).with({ period: Duration.minutes(15) }),
      threshold: alarms.overdueIn15Minutes,
    });
    this.#alarm("audit-events-lost", "Audit events went to the log only", {
      metric: metrics.own(stage, "AuditEventsLost"),
      threshold: 1,
    });
    for (const name of functions) this.#functionAlarms(name);
  }

  /** A function that throws or is throttled: neither is part of any answer that our code gives. */
  #functionAlarms(name: string): void {
    const metric = (metricName: string) => metrics.ofFunction(this.#stage, name, metricName, { statistic: "Sum" });
    this.#alarm(`errors-${name}`, `${name} throws or times out`, { metric: metric("Errors"), threshold: 1 });
    this.#alarm(`throttles-${name}`, `${name} is throttled`, { metric: metric("Throttles"), threshold: 1 });
  }

  #alarm(
    name: string,
    alarmDescription: string,
    options: {
      metric: IMetric;
      threshold: number;
      evaluationPeriods?: number;
      comparisonOperator?: ComparisonOperator;
      treatMissingData?: TreatMissingData;
    },
  ): void {
    const alarm = new Alarm(this, idOf(name.replaceAll("-", "_")), {
      alarmName: `${prefixOf(this.#stage)}-${name}`,
      alarmDescription: `${alarmDescription}. See the runbook in the README.`,
      evaluationPeriods: 1,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      // Nothing happened, or nothing was counted.
      treatMissingData: TreatMissingData.NOT_BREACHING,
      ...options,
    });
    alarm.addAlarmAction(new SnsAction(this.#topic));
    alarm.addOkAction(new SnsAction(this.#topic));
  }
}
