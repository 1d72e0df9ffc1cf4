import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  CreateTableCommand,
  DynamoDBClient,
  ResourceInUseException,
  UpdateTimeToLiveCommand,
  waitUntilTableExists,
} from "@aws-sdk/client-dynamodb";
import { OperatorError } from "../arguments.ts";
import { table } from "../table.ts";
import { localClient } from "./client_config.ts";
import { startDynoxide } from "./dynoxide.ts";

interface Dynamodb {
  endpoint: string;
  stop(): Promise<void>;
}

/**
 * The DynamoDB that is at `endpoint`, or else the bundled engine.
 * @param dataDir where the bundled engine keeps its data; undefined: in memory
 */
export async function startDynamodb(endpoint: string | undefined, dataDir: string | undefined): Promise<Dynamodb> {
  if (endpoint === undefined) return startDynoxide(dataDir && join(dataDir, "table.db"));
  await reach(endpoint);
  return { endpoint, stop: async () => {} };
}

/** A container that was started a moment ago gets some time to listen. */
async function reach(endpoint: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await fetch(endpoint);
      return;
    } catch (error) {
      if (attempt === 50)
        throw new OperatorError(`No DynamoDB answers at ${endpoint} (DYNAMODB_ENDPOINT).`, { cause: error });
      await sleep(100);
    }
  }
}

/** Creates the table unless it exists. */
export async function ensureTable(endpoint: string, name: string): Promise<void> {
  const client = new DynamoDBClient(localClient(endpoint));
  try {
    await client.send(new CreateTableCommand(definition(name)));
    await waitUntilTableExists({ client, maxWaitTime: 30, minDelay: 1 }, { TableName: name });
    await client.send(
      new UpdateTimeToLiveCommand({
        TableName: name,
        TimeToLiveSpecification: { AttributeName: table.ttlAttribute, Enabled: true },
      }),
    );
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) throw error;
  } finally {
    client.destroy();
  }
}

function definition(name: string): ConstructorParameters<typeof CreateTableCommand>[0] {
  const { partitionKey, sortKey, index } = table;
  const keys = (partition: string, sort: string) => [
    { AttributeName: partition, KeyType: "HASH" as const },
    { AttributeName: sort, KeyType: "RANGE" as const },
  ];
  return {
    TableName: name,
    BillingMode: "PAY_PER_REQUEST",
    AttributeDefinitions: [partitionKey, sortKey, index.partitionKey, index.sortKey].map((AttributeName) => ({
      AttributeName,
      AttributeType: "S" as const,
    })),
    KeySchema: keys(partitionKey, sortKey),
    GlobalSecondaryIndexes: [
      {
        IndexName: index.name,
        KeySchema: keys(index.partitionKey, index.sortKey),
        Projection: { ProjectionType: index.projection },
      },
    ],
  };
}
