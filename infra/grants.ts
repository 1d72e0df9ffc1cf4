import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import type { Contract } from "../functions/_runtime/contract.ts";
import { apiKeyUses, partitions } from "../functions/_table/keys.ts";
import type { WorkerName } from "./names.ts";
import { table as tableFacts } from "./table.ts";

/*
 * What each function may do, stated once. `test/infra/grants.test.ts` holds it against what each function's
 * bundle contains: a function that can send a wake-up has `send`, and no other has.
 */

/** The things that a function may be allowed. */
export type Ability =
  /** Read an API key and count its uses; nothing else of a key can be changed by any function. */
  | "authenticate"
  /** Read records of workspaces. */
  | "read"
  /** Write records of workspaces. */
  | "write"
  /** Send wake-ups. */
  | "send"
  /** Read the root secret, which webhook secrets are derived from. */
  | "rootSecret"
  /** Write audit events; nobody may change or delete one. */
  | "audit"
  /** Read the audit trail. */
  | "readAudit"
  /** Tell the operators what waits for their approval. */
  | "notify"
  /** Read the snapshots of repositories, and not see which there are. */
  | "readRepositories"
  /** Run tools by their own Lambdas, also for somebody who is not there (`_runtime/direct_event.ts`). */
  | "runTools"
  /** Make and remove the triggers of schedules, in the stage's group. */
  | "schedule";

/** A tool may do what its contract's side effect needs: what has one also writes. */
const bySideEffect: Record<Contract["sideEffect"], readonly Ability[]> = {
  none: [],
  internal: ["write"],
  external: ["write"],
};

/** What a tool needs beyond that. */
const more: Readonly<Record<string, readonly Ability[]>> = {
  // They wake the agents that they have a message for.
  assign_agent_work: ["send"],
  call_agent: ["send"],
  cancel_call: ["send"],
  cancel_task: ["send"],
  reply_call: ["send"],
  update_task: ["send"],
  read_file_range: ["readRepositories"],
  search_code: ["readRepositories"],
  // What it gives up after the last lease may be told to the sender, whose webhook is woken.
  receive_messages: ["send"],
  // It shows a new webhook secret, and wakes what waited in the inbox of an agent that has a webhook now.
  register_agent: ["send", "rootSecret"],
  // It runs what was approved, and tells the agent that asked.
  decide_approval: ["send", "runTools"],
  // Their triggers run the work later.
  schedule_agent_work: ["schedule"],
  cancel_schedule: ["schedule"],
  list_audit_events: ["readAudit"],
};

/** What a tool's function may do. */
export const abilitiesOfTool = ({ name, sideEffect }: Contract): readonly Ability[] => [
  "authenticate",
  "audit",
  "read",
  ...bySideEffect[sideEffect],
  ...(more[name] ?? []),
];

/** `deliver` also receives from the queue: its event source brings that. */
export const abilitiesOfWorker: Record<WorkerName, readonly Ability[]> = {
  catalog: ["authenticate"],
  deliver: ["read", "write", "send", "rootSecret"],
  mcp: ["authenticate", "runTools"],
  run_schedule: ["read", "write", "runTools", "schedule"],
  sweep: ["read", "write", "send", "runTools", "schedule", "notify"],
};

/** ARNs of what functions reach. */
export interface Reachable {
  tableArn: string;
  queueArn: string;
  rootSecretArn: string;
  /** The objects of the snapshots. */
  repositoriesArn: string;
  /** The same as cdk-nag writes it. */
  repositoriesFinding: string;
  /** Of the tools' functions. */
  toolArns: readonly string[];
  /** Of every schedule in the stage's group. */
  schedulesArn: string;
  /** Of the role by which a schedule's trigger runs it. */
  schedulerRoleArn: string;
  approvalsTopicArn: string;
}

/** Every value of the condition key is one of these; DynamoDB's fine-grained access control. */
const only = (key: string, values: readonly string[]) => ({ "ForAllValues:StringLike": { [key]: values } });
const inPartitions = (...patterns: string[]) => only("dynamodb:LeadingKeys", patterns);

/** The policy statements of an ability. */
export function statementsOf(ability: Ability, reachable: Reachable): PolicyStatement[] {
  const {
    tableArn,
    queueArn,
    rootSecretArn,
    repositoriesArn,
    toolArns,
    schedulesArn,
    schedulerRoleArn,
    approvalsTopicArn,
  } = reachable;
  const onTable = (actions: string[], conditions: Record<string, Record<string, unknown>>) =>
    new PolicyStatement({ actions, resources: [tableArn], conditions });
  switch (ability) {
    case "authenticate":
      return [
        onTable(["dynamodb:GetItem"], inPartitions(partitions.apiKeys)),
        onTable(["dynamodb:UpdateItem"], {
          "ForAllValues:StringLike": {
            "dynamodb:LeadingKeys": [partitions.apiKeys],
            "dynamodb:Attributes": [tableFacts.partitionKey, tableFacts.sortKey, ...apiKeyUses],
          },
        }),
      ];
    case "read":
      return [
        onTable(["dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query"], inPartitions(partitions.ofWorkspaces)),
        // The index holds keys only.
        new PolicyStatement({
          actions: ["dynamodb:Query"],
          resources: [`${tableArn}/index/${tableFacts.index.name}`],
        }),
      ];
    case "write":
      return [
        onTable(
          ["dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem", "dynamodb:BatchWriteItem"],
          inPartitions(partitions.ofWorkspaces),
        ),
      ];
    case "send":
      return [new PolicyStatement({ actions: ["sqs:SendMessage"], resources: [queueArn] })];
    case "rootSecret":
      return [new PolicyStatement({ actions: ["secretsmanager:GetSecretValue"], resources: [rootSecretArn] })];
    case "audit":
      return [onTable(["dynamodb:PutItem"], inPartitions(partitions.auditEvents))];
    case "readAudit":
      return [onTable(["dynamodb:Query"], inPartitions(partitions.auditEvents))];
    case "notify":
      return [new PolicyStatement({ actions: ["sns:Publish"], resources: [approvalsTopicArn] })];
    case "readRepositories":
      return [new PolicyStatement({ actions: ["s3:GetObject"], resources: [repositoriesArn] })];
    case "runTools":
      // A statement without resources is refused, also where there are no tools to run.
      if (toolArns.length === 0) return [];
      return [new PolicyStatement({ actions: ["lambda:InvokeFunction"], resources: [...toolArns] })];
    case "schedule":
      return [
        new PolicyStatement({
          actions: ["scheduler:CreateSchedule", "scheduler:DeleteSchedule"],
          resources: [schedulesArn],
        }),
        // A trigger is made with the role that it runs by: no other may be handed to it, nor this one to others.
        new PolicyStatement({
          actions: ["iam:PassRole"],
          resources: [schedulerRoleArn],
          conditions: { StringEquals: { "iam:PassedToService": "scheduler.amazonaws.com" } },
        }),
      ];
  }
}
