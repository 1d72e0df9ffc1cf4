/**
 * AWS's list prices that figures are turned into dollars with: us-east-1, on demand, beyond the free tier, without
 * tax, as on 2026-11-30. The one place that knows them; look up your own region's.
 */
export const prices = {
  region: "us-east-1",
  asOf: "2026-11-30",
  /** Dollars for a million. */
  dynamodbWriteUnits: 0.625, // https://aws.amazon.com/dynamodb/pricing/on-demand/
  dynamodbReadUnits: 0.125, // the same page; a strongly consistent read of up to 4 KB is one unit
  sqsFifoRequests: 0.5, // https://aws.amazon.com/sqs/pricing/ (64 KB count as one; ours are smaller)
  httpApiRequests: 1.0, // https://aws.amazon.com/api-gateway/pricing/ (512 KB count as one)
  lambdaRequests: 0.2, // https://aws.amazon.com/lambda/pricing/
  lambdaGbSeconds: 13.3334, // the same page; arm64
} as const;

/** What some work used. */
export interface Used {
  readUnits: number;
  writeUnits: number;
  sqsRequests: number;
  apiRequests: number;
  lambdaInvocations: number;
  /** Memory times the time that functions ran, waiting included. */
  lambdaGbMs: number;
}

/** Dollars for a million times the same work, by part; logs and traces are not in it. */
export function dollarsPerMillion(used: Used) {
  const parts = {
    table: used.writeUnits * prices.dynamodbWriteUnits + used.readUnits * prices.dynamodbReadUnits,
    queue: used.sqsRequests * prices.sqsFifoRequests,
    api: used.apiRequests * prices.httpApiRequests,
    lambdaRequests: used.lambdaInvocations * prices.lambdaRequests,
    lambdaTime: (used.lambdaGbMs / 1000) * prices.lambdaGbSeconds,
  };
  return { ...parts, sum: Object.values(parts).reduce((sum, part) => sum + part) };
}
