import { describe, expect, test, vi } from "vitest";
import { agentProfile, apiKey, apiKeyRate, partitions, session } from "../../functions/_table/keys.ts";
import { contracts } from "../../functions/tools.ts";
import { bundle, toolEntry, workerEntry } from "../../infra/bundle.ts";
import { type Ability, abilitiesOfTool, abilitiesOfWorker } from "../../infra/grants.ts";
import { idOf, workers } from "../../infra/names.ts";
import { actionsOf, functionsOf, resourcesOf, type Statement, statementsOfRole, synthesized } from "./synthesized.ts";

vi.setConfig({ testTimeout: 60_000 });

const { data, tools, operations } = synthesized();
const functions = functionsOf(tools);
const abilities = new Map<string, readonly Ability[]>([
  ...contracts.map((contract) => [contract.name, abilitiesOfTool(contract)] as const),
  ...workers.map((name) => [name, abilitiesOfWorker[name]] as const),
]);

const statementsOf = (name: string) =>
  statementsOfRole(tools, functions.get(name)?.Role["Fn::GetAtt"][0] ?? "no such function");
const allowed = (name: string) => [...new Set(statementsOf(name).flatMap(actionsOf))].sort();

/** What each ability comes to, written out: this list is what a reviewer reads. */
const actions: Record<Ability, readonly string[]> = {
  authenticate: ["dynamodb:GetItem", "dynamodb:UpdateItem"],
  read: ["dynamodb:BatchGetItem", "dynamodb:GetItem", "dynamodb:Query"],
  write: ["dynamodb:BatchWriteItem", "dynamodb:DeleteItem", "dynamodb:PutItem", "dynamodb:UpdateItem"],
  send: ["sqs:SendMessage"],
  rootSecret: ["secretsmanager:GetSecretValue"],
  audit: ["dynamodb:PutItem"],
  readAudit: ["dynamodb:Query"],
  notify: ["sns:Publish"],
  readRepositories: ["s3:GetObject"],
  runTools: ["lambda:InvokeFunction"],
  schedule: ["iam:PassRole", "scheduler:CreateSchedule", "scheduler:DeleteSchedule"],
};
const everyFunction = [
  "logs:CreateLogStream",
  "logs:PutLogEvents",
  "xray:PutTelemetryRecords",
  "xray:PutTraceSegments",
];
const queueConsumer = [
  "sqs:ChangeMessageVisibility",
  "sqs:DeleteMessage",
  "sqs:GetQueueAttributes",
  "sqs:GetQueueUrl",
  "sqs:ReceiveMessage",
];

/** What comes with where a function gets its events from, or leaves those that it could not work off. */
const byEvents: Readonly<Record<string, readonly string[]>> = {
  deliver: queueConsumer,
  run_schedule: ["sqs:SendMessage"],
};

describe.each([...abilities])("%s", (name, has) => {
  test("may do what its abilities say, write its own log and traces, and nothing else", () => {
    const expected = [...everyFunction, ...has.flatMap((ability) => actions[ability]), ...(byEvents[name] ?? [])];
    expect(allowed(name)).toEqual([...new Set(expected)].sort());
  });

  test("has the abilities that its code needs, and no other", () => {
    const inputs = Object.keys(bundle(name in abilitiesOfWorker ? workerEntry(name) : toolEntry(name)).metafile.inputs);
    const contains = (file: string) => inputs.some((input) => input.endsWith(file));
    expect(has.includes("send")).toBe(contains("functions/_delivery/wake_up.ts"));
    expect(has.includes("rootSecret")).toBe(contains("functions/_runtime/root_secret.ts"));
    expect(has.includes("readRepositories")).toBe(contains("functions/_repositories/objects.ts"));
    expect(has.includes("runTools")).toBe(contains("functions/_runtime/invoke_tool.ts"));
    expect(has.includes("schedule")).toBe(contains("functions/_schedules/trigger.ts"));
    expect(has.includes("authenticate")).toBe(contains("functions/_runtime/auth.ts"));
  });
});

const everyStatement: Statement[] = [data, tools, operations].flatMap((template) =>
  resourcesOf(template, "AWS::IAM::Policy").flatMap(
    ([, { Properties }]) => (Properties.PolicyDocument as { Statement: Statement[] }).Statement,
  ),
);

test("no policy has a wildcard in an action, and only X-Ray, which knows no resources, has one for its resource", () => {
  for (const statement of everyStatement) {
    for (const action of actionsOf(statement)) expect(action).not.toContain("*");
    const resources = [statement.Resource].flat();
    if (!actionsOf(statement).every((action) => action.startsWith("xray:"))) expect(resources).not.toContain("*");
  }
  for (const template of [data, tools, operations]) {
    for (const [, { Properties }] of resourcesOf(template, "AWS::IAM::Role")) {
      expect(Properties.ManagedPolicyArns).toBeUndefined();
    }
  }
});

test("no function may change an API key, but for the count of its uses, or an audit event once it is written", () => {
  const writes = /dynamodb:(Put|Update|Delete|BatchWrite)/;
  for (const statement of everyStatement.filter((each) => actionsOf(each).some((action) => writes.test(action)))) {
    const condition = statement.Condition?.["ForAllValues:StringLike"];
    const [partition, ...more] = [condition?.["dynamodb:LeadingKeys"]].flat();
    expect(more).toEqual([]);
    if (partition === partitions.apiKeys) {
      expect(condition?.["dynamodb:Attributes"]).toEqual(["PK", "SK", "uses", "ttl"]);
      expect(actionsOf(statement)).toEqual(["dynamodb:UpdateItem"]);
    } else if (partition === partitions.auditEvents) {
      expect(["dynamodb:PutItem", "dynamodb:Query"]).toEqual(expect.arrayContaining(actionsOf(statement)));
    } else {
      expect(partition).toBe(partitions.ofWorkspaces);
    }
  }
});

test("functions are invoked directly only by those that run tools, and by schedules: each role for its one function", () => {
  const invoking = resourcesOf(tools, "AWS::IAM::Policy").flatMap(([id, { Properties }]) =>
    (Properties.PolicyDocument as { Statement: Statement[] }).Statement.filter((statement) =>
      actionsOf(statement).includes("lambda:InvokeFunction"),
    ).map(({ Resource }) => [id.replace(/DefaultPolicy.*/, ""), JSON.stringify(Resource)] as const),
  );
  const running = [...abilities].filter(([, has]) => has.includes("runTools")).map(([name]) => `${idOf(name)}Role`);
  const schedules = invoking.filter(([id]) => !running.some((role) => id.startsWith(role)));
  expect(schedules.map(([id]) => id).sort()).toEqual([
    expect.stringMatching(/^RunScheduleSchedulerRole/),
    expect.stringMatching(/^SchedulesSweepRole/),
  ]);
  expect(schedules.find(([id]) => id.startsWith("Run"))?.[1]).toMatch(/function:switchboard-test-run_schedule"/);
  expect(schedules.find(([id]) => id.startsWith("Schedules"))?.[1]).toMatch(/"Fn::GetAtt":\["Sweep/);
});

test.each(["mcp", "run_schedule", "sweep", "decide_approval"])("%s may invoke the tools and no worker", (running) => {
  const invoking = statementsOf(running).filter((each) => actionsOf(each).includes("lambda:InvokeFunction"));
  const resources = JSON.stringify(invoking.map(({ Resource }) => Resource));
  for (const { name } of contracts) expect(resources).toContain(`switchboard-test-${name}`);
  for (const name of workers) expect(resources).not.toContain(`switchboard-test-${name}"`);
});

test("a trigger is made in the stage's group only, and with the one role that may run schedules", () => {
  const scheduling = statementsOf("schedule_agent_work").filter((statement) =>
    actionsOf(statement).some((action) => /^(scheduler|iam):/.test(action)),
  );
  const [group, role] = scheduling;
  expect(JSON.stringify(group?.Resource)).toMatch(/:schedule\/switchboard-test\/\*"/);
  expect(role).toMatchObject({
    Action: "iam:PassRole",
    Resource: { "Fn::GetAtt": [expect.stringMatching(/^RunScheduleSchedulerRole/), "Arn"] },
    Condition: { StringEquals: { "iam:PassedToService": "scheduler.amazonaws.com" } },
  });
});

test("the partitions that policies name are those of the keys", () => {
  const matches = (pattern: string, PK: string) => PK.startsWith(pattern.replace(/\*$/, ""));
  for (const { PK } of [apiKey("w", "id"), apiKeyRate("w", "id", 1)]) {
    expect(matches(partitions.apiKeys, PK)).toBe(true);
    expect(matches(partitions.ofWorkspaces, PK)).toBe(false);
  }
  for (const { PK } of [agentProfile("w", "a"), session("w", "s")]) {
    expect(matches(partitions.ofWorkspaces, PK)).toBe(true);
    expect(matches(partitions.apiKeys, PK)).toBe(false);
  }
});
