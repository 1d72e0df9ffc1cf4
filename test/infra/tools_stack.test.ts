import { Match } from "aws-cdk-lib/assertions";
import { describe, expect, test, vi } from "vitest";
import { openApi } from "../../functions/_workers/catalog/openapi/document.ts";
import { contracts } from "../../functions/tools.ts";
import { workers } from "../../infra/names.ts";
import { deliverTimeoutS } from "../../infra/queues.ts";
import { functionsOf, resourcesOf, synthesized } from "./synthesized.ts";

vi.setConfig({ testTimeout: 60_000 });

const { data, tools, operations } = synthesized();
const functions = functionsOf(tools);
const toolNames = contracts.map(({ name }) => name);
const all = [...toolNames, ...workers];

test("each tool and each worker has one function, one log group with a retention, and its alarms", () => {
  expect([...functions.keys()].sort()).toEqual([...all].sort());
  const logs = resourcesOf(tools, "AWS::Logs::LogGroup").map(([, { Properties }]) => Properties);
  expect(logs.map(({ LogGroupName }) => LogGroupName).sort()).toEqual(
    [...all, "access"].map((name) => `/switchboard/test/${name}`).sort(),
  );
  for (const log of logs) expect(log.RetentionInDays).toBe(30);
  const alarms = resourcesOf(operations, "AWS::CloudWatch::Alarm").map(([, { Properties }]) => Properties.AlarmName);
  expect(alarms).toEqual(
    expect.arrayContaining(
      all.flatMap((name) => [`switchboard-test-errors-${name}`, `switchboard-test-throttles-${name}`]),
    ),
  );
});

test.each(all)("%s runs on Node 24 and arm64, is traced, logs JSON and has source maps on", (name) => {
  expect(functions.get(name)).toMatchObject({
    Runtime: "nodejs24.x",
    Architectures: ["arm64"],
    Handler: "index.handler",
    TracingConfig: { Mode: "Active" },
    LoggingConfig: { LogFormat: "JSON", ApplicationLogLevel: "INFO", SystemLogLevel: "WARN" },
    Environment: { Variables: { NODE_OPTIONS: "--enable-source-maps" } },
  });
});

test("what can wait, or runs what can, has the gateway's 30 s, and no other function behind the gateway has more", () => {
  for (const { name, defaultWaitS } of contracts as readonly { name: string; defaultWaitS?: number }[]) {
    const runsTools = name === "decide_approval";
    expect(functions.get(name)?.Timeout).toBe(defaultWaitS !== undefined || runsTools ? 30 : 15);
  }
  expect(functions.get("catalog")?.Timeout).toBe(15);
  // It waits as long as the tools that it runs.
  expect(functions.get("mcp")?.Timeout).toBe(30);
  expect(functions.get("deliver")?.Timeout).toBe(deliverTimeoutS);
});

describe("the API", () => {
  const routes = resourcesOf(tools, "AWS::ApiGatewayV2::Route").map(([, { Properties }]) =>
    String(Properties.RouteKey),
  );

  test("has one route for each tool, MCP's, the catalog's, and one for all the rest", () => {
    const documents = ["GET /openapi.json", "GET /docs", "GET /healthz"];
    const catalog = ["GET /v1/tools", "GET /v1/tools/{tool}", ...documents, "$default"];
    expect(routes.sort()).toEqual(
      [...toolNames.map((name) => `POST /v1/tools/${name}`), "POST /mcp", ...catalog].sort(),
    );
  });

  test("has no route that /openapi.json does not describe", () => {
    const { paths } = openApi(contracts, "en") as { paths: Record<string, object> };
    const described = Object.entries(paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect([...described, "$default"]).toEqual(expect.arrayContaining(routes));
  });

  test("throttles each route on its own, once the routes are there", () => {
    const [[, stage] = []] = resourcesOf(tools, "AWS::ApiGatewayV2::Stage");
    const throttled = { ThrottlingRateLimit: 100, ThrottlingBurstLimit: 200 };
    expect(stage?.Properties.RouteSettings).toEqual(Object.fromEntries(routes.map((key) => [key, throttled])));
    const routeIds = resourcesOf(tools, "AWS::ApiGatewayV2::Route").map(([id]) => id);
    expect(stage?.DependsOn).toEqual(expect.arrayContaining(routeIds));
  });

  test("leaves authentication to the functions: no cached verdict outlives a key", () => {
    tools.resourceCountIs("AWS::ApiGatewayV2::Authorizer", 0);
    for (const [, { Properties }] of resourcesOf(tools, "AWS::ApiGatewayV2::Route")) {
      expect(Properties.AuthorizationType).toBe("NONE");
    }
  });

  test("logs each access without anything that the request carries", () => {
    const [[, stage] = []] = resourcesOf(tools, "AWS::ApiGatewayV2::Stage");
    const variables = JSON.stringify(stage?.Properties.AccessLogSettings).match(/\$context\.[\w.]+/g) ?? [];
    expect(variables).toContain("$context.requestId");
    expect(variables.join()).not.toMatch(/header|authorizer|querystring|path\b/i);
  });

  test("may invoke each function for its own route only", () => {
    for (const [, { Properties }] of resourcesOf(tools, "AWS::Lambda::Permission")) {
      expect(Properties).toMatchObject({ Principal: "apigateway.amazonaws.com", Action: "lambda:InvokeFunction" });
      expect(JSON.stringify(Properties.SourceArn)).toContain("execute-api");
    }
  });

  test("tells the MCP worker which pages may call, so that it refuses all others", () => {
    expect(functions.get("mcp")?.Environment.Variables).not.toHaveProperty("ALLOWED_ORIGINS");
    const open = functionsOf(synthesized({ corsOrigins: ["https://a.example.com", "https://b.example.com"] }).tools);
    expect(open.get("mcp")?.Environment.Variables).toMatchObject({
      ALLOWED_ORIGINS: "https://a.example.com,https://b.example.com",
    });
  });

  test("answers preflights for the chosen origins, and has no CORS otherwise", () => {
    tools.hasResourceProperties("AWS::ApiGatewayV2::Api", { CorsConfiguration: Match.absent() });
    const { tools: open } = synthesized({ corsOrigins: ["https://app.example.com"] }, []);
    open.hasResourceProperties("AWS::ApiGatewayV2::Api", {
      CorsConfiguration: {
        AllowOrigins: ["https://app.example.com"],
        AllowMethods: ["GET", "POST"],
        AllowHeaders: [
          ...["authorization", "content-type", "idempotency-key", "prefer"],
          ...["mcp-protocol-version", "mcp-method", "mcp-name"],
        ],
        AllowCredentials: Match.absent(),
      },
    });
  });
});

test("deliver takes one wake-up at a time, reports which failed, and its concurrency is limited by the mapping", () => {
  tools.resourceCountIs("AWS::Lambda::EventSourceMapping", 1);
  tools.hasResourceProperties("AWS::Lambda::EventSourceMapping", {
    BatchSize: 1,
    FunctionResponseTypes: ["ReportBatchItemFailures"],
    ScalingConfig: { MaximumConcurrency: 50 },
  });
});

test("sweep runs every minute, and a run that fails is left to the next", () => {
  const [[sweepId] = []] = resourcesOf(tools, "AWS::Lambda::Function").filter(
    ([, { Properties }]) => Properties.FunctionName === "switchboard-test-sweep",
  );
  tools.hasResourceProperties("AWS::Scheduler::Schedule", {
    ScheduleExpression: "rate(1 minute)",
    State: "ENABLED",
    FlexibleTimeWindow: { Mode: "OFF" },
    Target: { Arn: { "Fn::GetAtt": [sweepId, "Arn"] }, Input: "{}", RetryPolicy: { MaximumRetryAttempts: 0 } },
  });
  tools.hasResourceProperties("AWS::Lambda::EventInvokeConfig", {
    FunctionName: { Ref: sweepId },
    MaximumRetryAttempts: 0,
  });
});

test("a run of a schedule that throws is tried again for an hour, and then kept", () => {
  tools.hasResourceProperties("AWS::Lambda::EventInvokeConfig", {
    MaximumEventAgeInSeconds: 3_600,
    MaximumRetryAttempts: 2,
    DestinationConfig: { OnFailure: { Destination: Match.anyValue() } },
  });
  const { Variables = {} } = functions.get("schedule_agent_work")?.Environment ?? {};
  expect(Variables).toMatchObject({ SCHEDULE_GROUP: "switchboard-test" });
  expect(Object.keys(Variables)).toEqual(
    expect.arrayContaining(["SCHEDULE_TARGET_ARN", "SCHEDULE_ROLE_ARN", "SCHEDULE_DEAD_LETTERS_ARN"]),
  );
  expect(JSON.stringify(Variables.SCHEDULE_TARGET_ARN)).toContain(":function:switchboard-test-run_schedule");
});

test("concurrency is set apart only where the operator says so", () => {
  expect([...functions.values()].filter((each) => each.ReservedConcurrentExecutions !== undefined)).toEqual([]);
  const chosen = { reservedConcurrency: { waiting: 100, replying: 50, delivering: 60, relaying: 400 } };
  const reserved = functionsOf(synthesized(chosen).tools);
  const of = (name: string) => reserved.get(name)?.ReservedConcurrentExecutions;
  expect(of("call_agent")).toBe(100);
  expect(of("receive_messages")).toBe(100);
  expect(of("reply_call")).toBe(50);
  expect(of("update_task")).toBe(50);
  expect(of("deliver")).toBe(60);
  expect(of("mcp")).toBe(400);
  expect(of("list_agents")).toBeUndefined();
});

test("budgets become the functions' settings, and what isn't chosen keeps its default there", () => {
  const { Variables } = functions.get("call_agent")?.Environment ?? {};
  expect(Object.keys(Variables ?? {})).not.toContain("CALLS_PER_SESSION");
  const chosen = functionsOf(synthesized({ budgets: { callsPerSession: 7 }, webhookTargets: "any" }).tools);
  expect(chosen.get("call_agent")?.Environment.Variables).toMatchObject({
    CALLS_PER_SESSION: "7",
    WEBHOOK_TARGETS: "any",
  });
  expect(functions.get("deliver")?.Environment.Variables).toMatchObject({ WEBHOOK_TARGETS: "public" });
});

test("each function knows which tools a person must approve, for how long, and whom sweep tells", () => {
  const approvals = { tools: ["assign_agent_work", "remove_agent"], hours: 4, email: "ops@example.com" };
  const raised = synthesized({ approvals });
  for (const { Environment } of functionsOf(raised.tools).values()) {
    expect(Environment.Variables).toMatchObject({
      APPROVAL_TOOLS: "assign_agent_work,remove_agent",
      APPROVAL_HOURS: "4",
      APPROVALS_TOPIC_ARN: expect.anything(),
    });
  }
  const [[topic] = []] = resourcesOf(raised.data, "AWS::SNS::Topic");
  raised.data.hasResourceProperties("AWS::SNS::Topic", { TopicName: "switchboard-test-approvals" });
  raised.data.hasResourceProperties("AWS::SNS::Subscription", {
    Protocol: "email",
    Endpoint: "ops@example.com",
    TopicArn: { Ref: topic },
  });
  expect(resourcesOf(data, "AWS::SNS::Subscription")).toEqual([]);
});

test("every alarm tells the topic, which takes messages from CloudWatch over TLS only", () => {
  const alarms = resourcesOf(operations, "AWS::CloudWatch::Alarm");
  for (const [, { Properties }] of alarms) {
    expect(Properties.AlarmActions).toEqual([{ Ref: expect.stringContaining("AlarmTopic") }]);
  }
  expect(alarms.map(([, { Properties }]) => Properties.AlarmName)).toEqual(
    expect.arrayContaining(
      ["dead-letters", "lost-runs", "queue-age", "server-errors", "sweep-stopped", "overdue", "audit-events-lost"].map(
        (name) => `switchboard-test-${name}`,
      ),
    ),
  );
  operations.hasResourceProperties("AWS::SNS::TopicPolicy", {
    PolicyDocument: {
      Statement: Match.arrayWith([
        Match.objectLike({ Effect: "Deny", Condition: { Bool: { "aws:SecureTransport": "false" } } }),
        Match.objectLike({
          Effect: "Allow",
          Principal: { Service: "cloudwatch.amazonaws.com" },
          Action: "sns:Publish",
        }),
      ]),
    },
  });
  operations.resourceCountIs("AWS::SNS::Subscription", 0);
  const { operations: withEmail } = synthesized({ alarmEmail: "ops@example.com" }, []);
  withEmail.hasResourceProperties("AWS::SNS::Subscription", { Protocol: "email", Endpoint: "ops@example.com" });
});

test("an alarm watches each dead-letter queue", () => {
  const queues = new Map(resourcesOf(data, "AWS::SQS::Queue"));
  const deadLetters = [...queues.values()].flatMap(({ Properties }) => {
    const redrive = Properties.RedrivePolicy as { deadLetterTargetArn: { "Fn::GetAtt": [string] } } | undefined;
    return redrive === undefined
      ? []
      : [queues.get(redrive.deadLetterTargetArn["Fn::GetAtt"][0])?.Properties.QueueName];
  });
  expect(deadLetters).toHaveLength(1);
  for (const Value of deadLetters) {
    operations.hasResourceProperties("AWS::CloudWatch::Alarm", {
      MetricName: "ApproximateNumberOfMessagesVisible",
      Dimensions: [{ Name: "QueueName", Value }],
      Threshold: 1,
    });
  }
});

test("the alarm on server errors watches their share, of at least five", () => {
  const apiId = { Name: "ApiId", Value: { "Fn::ImportValue": Match.anyValue() } };
  const sum = (MetricName: string) =>
    Match.objectLike({
      MetricStat: Match.objectLike({
        Metric: { Namespace: "AWS/ApiGateway", MetricName, Dimensions: [apiId] },
        Stat: "Sum",
      }),
    });
  operations.hasResourceProperties("AWS::CloudWatch::Alarm", {
    AlarmName: "switchboard-test-server-errors",
    Threshold: 5,
    Metrics: Match.arrayWith([
      Match.objectLike({ Expression: "IF(errors >= 5, 100 * errors / requests, 0)" }),
      sum("5xx"),
      sum("Count"),
    ]),
  });
});

test("the dashboard shows answers by outcome, latency, the queue's age and what costs money", () => {
  const [[, dashboard] = []] = resourcesOf(operations, "AWS::CloudWatch::Dashboard");
  const body = JSON.stringify(dashboard?.Properties.DashboardBody);
  for (const metric of ["Answers", "MessagesEnded", "Latency", "ApproximateAgeOfOldestMessage", "5xx"])
    expect(body).toContain(metric);
  for (const cost of ["ConsumedWriteCapacityUnits", "ConsumedReadCapacityUnits", "Duration", "IncomingBytes"])
    expect(body).toContain(cost);
  for (const name of all) expect(body).toContain(`switchboard-test-${name}`);
});

test("no template holds a secret's value or a key", () => {
  for (const template of [data, tools, operations]) {
    const text = JSON.stringify(template.toJSON());
    expect(text).not.toMatch(/sb_[a-z0-9]+_[a-z0-9]+_[0-9a-f]{32}/);
    expect(text).not.toContain("resolve:secretsmanager");
  }
});
