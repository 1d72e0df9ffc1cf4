import { localIdentity } from "./client_config.ts";
import { approvalsTopicArn } from "./sns.ts";

/*
 * The one place outside `functions/` that touches `process.env`: it reads what an operator may set for a
 * local system, and sets what the functions and their SDK clients then read.
 */

/** What an operator may set: everything in `functions/_runtime/env.ts`, and these. */
export const fromOperator = () => ({
  /** A DynamoDB that runs already, in place of the bundled engine. */
  dynamodbEndpoint: process.env.DYNAMODB_ENDPOINT || undefined,
  /** The token that shall work with every permission. */
  key: process.env.SWITCHBOARD_KEY || undefined,
  /** The system that the operators' commands ask, in place of the local one. */
  url: process.env.SWITCHBOARD_URL || undefined,
  tableName: process.env.TABLE_NAME || undefined,
});

interface Places {
  awsEndpoint: string;
  dynamodbEndpoint: string;
  tableName: string;
  queueUrl: string;
  s3Endpoint: string;
  bucketName: string;
  rootSecretId: string;
  scheduleGroup: string;
  scheduleTargetArn: string;
  scheduleRoleArn: string;
}

/** The settings with which functions reach a local system's parts. */
export function environmentFor(places: Places): Record<string, string> {
  return {
    AWS_REGION: localIdentity.region,
    AWS_ACCESS_KEY_ID: localIdentity.accessKeyId,
    AWS_SECRET_ACCESS_KEY: localIdentity.secretAccessKey,
    AWS_ENDPOINT_URL: places.awsEndpoint,
    AWS_ENDPOINT_URL_DYNAMODB: places.dynamodbEndpoint,
    AWS_ENDPOINT_URL_SQS: new URL(places.queueUrl).origin,
    AWS_ENDPOINT_URL_S3: places.s3Endpoint,
    TABLE_NAME: places.tableName,
    MESSAGES_QUEUE_URL: places.queueUrl,
    REPOSITORIES_BUCKET: places.bucketName,
    ROOT_SECRET_ID: places.rootSecretId,
    SCHEDULE_GROUP: places.scheduleGroup,
    SCHEDULE_TARGET_ARN: places.scheduleTargetArn,
    SCHEDULE_ROLE_ARN: places.scheduleRoleArn,
    APPROVALS_TOPIC_ARN: approvalsTopicArn,
    WEBHOOK_TARGETS: process.env.WEBHOOK_TARGETS ?? "any",
    // Each refusal would be a line otherwise; on a laptop only what went wrong is worth one.
    POWERTOOLS_LOG_LEVEL: process.env.POWERTOOLS_LOG_LEVEL ?? "WARN",
  };
}

/** Adds settings beside what the operator has set: their AWS profile, region and credentials stay. */
export function addEnvironment(env: Record<string, string>): void {
  Object.assign(process.env, env);
}

/** Of the operator's real AWS set-up; each would win over the local endpoints or credentials. */
const foreign = [
  "AWS_PROFILE",
  "AWS_SESSION_TOKEN",
  "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS",
  "AWS_ENDPOINT_URL_SECRETS_MANAGER",
  "AWS_ENDPOINT_URL_LAMBDA",
  "AWS_ENDPOINT_URL_SCHEDULER",
  "AWS_ENDPOINT_URL_SNS",
];

/** Before the functions are loaded: they read the environment once. */
export function applyEnvironment(env: Record<string, string>): void {
  for (const name of foreign) delete process.env[name];
  addEnvironment(env);
}
