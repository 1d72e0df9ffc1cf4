import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { LambdaClient } from "@aws-sdk/client-lambda";
import { S3Client } from "@aws-sdk/client-s3";
import { SchedulerClient } from "@aws-sdk/client-scheduler";
import { SNSClient } from "@aws-sdk/client-sns";
import { SQSClient } from "@aws-sdk/client-sqs";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";

/*
 * One client of each kind per process, made at load so that a warm Lambda reuses its connections.
 * Endpoints come from the SDK's own AWS_ENDPOINT_URL_* variables.
 */
export const dynamodb = DynamoDBDocumentClient.from(new DynamoDBClient({ maxAttempts: 5 }), {
  marshallOptions: { removeUndefinedValues: true },
});
// Pure, so that the bundle of a function that sends nothing is spared the client.
export const sqs = /* @__PURE__ */ new SQSClient({ useQueueUrlAsEndpoint: true });
export const s3 = /* @__PURE__ */ new S3Client({ maxAttempts: 4 });
/** A waiting tool may take 25 s to answer; whoever runs it waits that long. */
export const lambda = /* @__PURE__ */ new LambdaClient({ maxAttempts: 3 });
export const scheduler = /* @__PURE__ */ new SchedulerClient({ maxAttempts: 3 });
export const sns = /* @__PURE__ */ new SNSClient({});
