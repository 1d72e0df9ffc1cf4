import { describe, expect, test, vi } from "vitest";
import { agentProfile, apiKey, apiKeyRate, partitions, session } from "../../functions/_table/keys.ts";
import { contracts } from "../../functions/tools.ts";
import { bundle, toolEntry, workerEntry } from "../../infra/bundle.ts";
import { type Ability, abilitiesOfTool, abilitiesOfWorker } from "../../infra/grants.ts";
import { workers } from "../../infra/names.ts";
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
  readRepositories: ["s3:GetObject"],
  runTools: ["lambda:InvokeFunction"],
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

describe.each([...abilities])("%s", (name, has) => {
  test("may do what its abilities say, write its own log and traces, and nothing else", () => {
    const expected = [
      ...everyFunction,
      ...has.flatMap((ability) => actions[ability]),
      ...(name === "deliver" ? queueConsumer : []),
    ];
    expect(allowed(name)).toEqual([...new Set(expected)].sort());
  });

  test("has the abilities that its code needs, and no other", () => {
    const inputs = Object.keys(bundle(name in abilitiesOfWorker ? workerEntry(name) : toolEntry(name)).metafile.inputs);
    const contains = (file: string) => inputs.some((input) => input.endsWith(file));
    expect(has.includes("send")).toBe(contains("functions/_delivery/wake_up.ts"));
    expect(has.includes("rootSecret")).toBe(contains("functions/_runtime/root_secret.ts"));
    expect(has.includes("readRepositories")).toBe(contains("functions/_repositories/objects.ts"));
    expect(has.includes("runTools")).toBe(contains("functions/_runtime/invoke_tool.ts"));
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

test("no function may change an API key, but for the count of its uses", () => {
  const writes = /dynamodb:(Put|Update|Delete|BatchWrite)/;
  for (const statement of everyStatement.filter((each) => actionsOf(each).some((action) => writes.test(action)))) {
    const condition = statement.Condition?.["ForAllValues:StringLike"];
    const [partition, ...more] = [condition?.["dynamodb:LeadingKeys"]].flat();
    expect(more).toEqual([]);
    if (partition === partitions.apiKeys) {
      expect(condition?.["dynamodb:Attributes"]).toEqual(["PK", "SK", "uses", "ttl"]);
      expect(actionsOf(statement)).toEqual(["dynamodb:UpdateItem"]);
    } else {
      expect(partition).toBe(partitions.ofWorkspaces);
    }
  }
});

test("only the schedule that runs sweep may invoke a function directly", () => {
  const invoking = resourcesOf(tools, "AWS::IAM::Policy").filter(([, { Properties }]) =>
    JSON.stringify(Properties.PolicyDocument).includes("lambda:InvokeFunction"),
  );
  expect(invoking.map(([id]) => id)).toEqual([expect.stringMatching(/^SweepSchedule/)]);
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
