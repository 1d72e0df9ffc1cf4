import type { TestProject } from "vitest/node";
import { startDynamodb } from "../infra/local/dynamodb.ts";
import { fromOperator } from "../infra/local/environment.ts";
import { startQueueServer } from "../infra/local/queues.ts";

declare module "vitest" {
  interface ProvidedContext {
    dynamodbEndpoint: string;
    queuesEndpoint: string;
  }
}

/** One engine of each kind for all test files; each file has a table and queues of its own in them. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const [dynamodb, queues] = await Promise.all([
    startDynamodb(fromOperator().dynamodbEndpoint, undefined),
    startQueueServer(),
  ]);
  project.provide("dynamodbEndpoint", dynamodb.endpoint);
  project.provide("queuesEndpoint", queues.endpoint);
  return async () => {
    await queues.stop();
    await dynamodb.stop();
  };
}
