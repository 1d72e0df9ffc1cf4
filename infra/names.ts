/*
 * How the parts of a deployed stage are called. Names are given, not generated, where people or other programs
 * look for them: stacks, queues (CloudFormation takes FIFO from the suffix), functions and their log groups.
 */
export const stageNamePattern = /^[a-z](?:[a-z0-9-]{0,14}[a-z0-9])?$/;

export const prefixOf = (stage: string) => `switchboard-${stage}`;
export const stackName = (stage: string, stack: "data" | "tools" | "operations") => `${prefixOf(stage)}-${stack}`;
export const functionName = (stage: string, name: string) => `${prefixOf(stage)}-${name}`;
export const logGroupName = (stage: string, name: string) => `/switchboard/${stage}/${name}`;
export const queueName = (stage: string, name: string) => `${prefixOf(stage)}-${name}`;

/** Lambda takes 64 characters for a function's name, and a stage's name has up to 16. */
export const longestToolName = 64 - functionName("x".repeat(16), "").length;

/** Construct id of a function: `call_agent` → `CallAgent`. */
export const idOf = (name: string) => name.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** Outputs of the stacks, which the operators' commands read. */
export const outputs = {
  tableName: "TableName",
  queueUrl: "MessagesQueueUrl",
  deadLettersUrl: "DeadLettersQueueUrl",
  repositoriesBucket: "RepositoriesBucket",
  rootSecretId: "RootSecretId",
  apiUrl: "ApiUrl",
} as const;

/** CloudWatch namespace of the metrics that our own code emits. */
export const metricsNamespace = "Switchboard";

/** The functions that are no tools. */
export const workers = ["catalog", "deliver", "mcp", "run_schedule", "sweep"] as const;
export type WorkerName = (typeof workers)[number];
