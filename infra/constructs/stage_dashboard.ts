import { Stack } from "aws-cdk-lib";
import { Dashboard, GraphWidget, type IMetric, MathExpression, TextWidget } from "aws-cdk-lib/aws-cloudwatch";
import type { Construct } from "constructs";
import type { Context } from "../context.ts";
import { metricsNamespace, prefixOf } from "../names.ts";
import { metrics } from "./alarms.ts";

interface StageDashboardProps {
  context: Context;
  apiId: string;
  tableName: string;
  functions: readonly string[];
}

/** One page for a stage: what agents get, how long it takes, how far deliveries are behind, and what costs money. */
export class StageDashboard extends Dashboard {
  constructor(scope: Construct, id: string, { context, apiId, tableName, functions }: StageDashboardProps) {
    super(scope, id, { dashboardName: prefixOf(context.stage) });
    const { stage } = context;
    const { region } = Stack.of(this);
    const graph = (title: string, left: IMetric[], right: IMetric[] = []) =>
      new GraphWidget({ title, left, right, width: 12, height: 6, region });
    const byValue = (metric: string, dimension: string) =>
      search(`{${metricsNamespace},Stage,${dimension}} MetricName="${metric}" Stage="${stage}"`, "Sum");
    const api = (metric: string, statistic: string) => metrics.ofApi(apiId, metric, statistic);
    const queue = (metric: string, statistic = "Maximum") =>
      metrics.ofQueue(stage, "messages", metric).with({ statistic });
    const table = (metric: string) =>
      search(`{AWS/DynamoDB,TableName} MetricName="${metric}" TableName="${tableName}"`, "Sum");
    const eachFunction = (metric: string, statistic: string) =>
      functions.map((name) => metrics.ofFunction(stage, name, metric, { statistic, label: name }));

    this.addWidgets(
      new TextWidget({ markdown: `# Switchboard ${stage}`, width: 24, height: 1 }),
      graph("Answers by outcome", [byValue("Answers", "Outcome")]),
      graph("How messages ended", [byValue("MessagesEnded", "Status")]),
      graph("Latency of the API (ms)", [api("Latency", "p50"), api("Latency", "p95"), api("Latency", "p99")]),
      graph("Requests and errors", [api("Count", "Sum")], [api("4xx", "Sum"), api("5xx", "Sum")]),
      graph("Deliveries by result", [byValue("Deliveries", "Result")]),
      graph(
        "Wake-ups: age of the oldest (s), number",
        [queue("ApproximateAgeOfOldestMessage")],
        [queue("ApproximateNumberOfMessagesVisible"), queue("ApproximateNumberOfMessagesNotVisible")],
      ),
      graph("Concurrent executions", eachFunction("ConcurrentExecutions", "Maximum")),
      graph("Duration, p95 (ms)", eachFunction("Duration", "p95")),
      graph("Cost: table units", [table("ConsumedWriteCapacityUnits"), table("ConsumedReadCapacityUnits")]),
      graph("Cost: function time (ms)", eachFunction("Duration", "Sum")),
      graph("Cost: wake-ups", [queue("NumberOfMessagesSent", "Sum"), queue("NumberOfEmptyReceives", "Sum")]),
      graph(
        "Cost: log bytes",
        [...functions, "access"].map((name) => metrics.ofLog(stage, name)),
      ),
    );
  }
}

/** Every metric that the search finds, so that new outcomes show by themselves. */
const search = (expression: string, statistic: string) =>
  new MathExpression({ expression: `SEARCH('${expression}', '${statistic}', 300)`, usingMetrics: {}, label: "" });
