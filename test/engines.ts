import type { TestProject } from "vitest/node";
import { startDynamodb } from "../infra/local/dynamodb.ts";
import { fromOperator } from "../infra/local/environment.ts";
import { startFauxqs } from "../infra/local/fauxqs.ts";

declare module "vitest" {
  interface ProvidedContext {
    dynamodbEndpoint: string;
    fauxqsEndpoint: string;
  }
}

/** One engine of each kind for all test files; each file has a table and queues of its own in them. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const [dynamodb, fauxqs] = await Promise.all([
    startDynamodb(fromOperator().dynamodbEndpoint, undefined),
    startFauxqs(),
  ]);
  project.provide("dynamodbEndpoint", dynamodb.endpoint);
  project.provide("fauxqsEndpoint", fauxqs.endpoint);
  return async () => {
    await fauxqs.stop();
    await dynamodb.stop();
  };
}
