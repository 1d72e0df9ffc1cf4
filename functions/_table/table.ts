import { setTimeout as sleep } from "node:timers/promises";
import {
  ConditionalCheckFailedException,
  TransactionCanceledException,
  TransactionConflictException,
} from "@aws-sdk/client-dynamodb";
import {
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  type DeleteCommandInput,
  GetCommand,
  PutCommand,
  type PutCommandInput,
  QueryCommand,
  type QueryCommandInput,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
  type UpdateCommandInput,
} from "@aws-sdk/lib-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { dynamodb } from "../_runtime/clients.ts";
import { env } from "../_runtime/env.ts";
import { together } from "../_runtime/together.ts";
import type { Key } from "./keys.ts";

export type Item = Record<string, unknown>;
type TransactItem = NonNullable<TransactWriteCommandInput["TransactItems"]>[number];
type Without<T> = Omit<T, "TableName">;

/** One write of a transaction, without the table's name. */
export type Write =
  | { Put: Without<PutCommandInput> }
  | { Delete: Without<DeleteCommandInput> }
  | { Update: Without<UpdateCommandInput> & { UpdateExpression: string } };

/** Epoch seconds for `ttl`, from an instant in milliseconds: DynamoDB ignores a ttl in milliseconds. */
export const ttl = (atMs: number) => Math.floor(atMs / 1000);
export const retention = (nowMs: number) => ttl(nowMs) + env().RETENTION_DAYS * 86_400;

/** Strongly consistent: guards and statuses must see every acknowledged write. */
export async function get(key: Key): Promise<Item | undefined> {
  const { Item } = await dynamodb.send(new GetCommand({ TableName: env().TABLE_NAME, Key: key, ConsistentRead: true }));
  return Item;
}

/** Strongly consistent, in the order of `keys`; undefined where there is no record. At most 100 keys. */
export async function getAll(keys: readonly Key[]): Promise<(Item | undefined)[]> {
  if (keys.length === 0) return [];
  const name = (key: { PK?: unknown; SK?: unknown }) => `${key.PK} ${key.SK}`;
  const found = new Map<string, Item>();
  const unique = new Map(keys.map((key) => [name(key), key]));
  let pending: Item[] = [...unique.values()].map(({ PK, SK }) => ({ PK, SK }));
  for (let attempt = 0; pending.length > 0; attempt++) {
    if (attempt > 0) await backOff(attempt);
    const answer = await dynamodb.send(
      new BatchGetCommand({ RequestItems: { [env().TABLE_NAME]: { Keys: pending, ConsistentRead: true } } }),
    );
    for (const item of answer.Responses?.[env().TABLE_NAME] ?? []) found.set(name(item), item);
    pending = answer.UnprocessedKeys?.[env().TABLE_NAME]?.Keys ?? [];
  }
  return keys.map((key) => found.get(name(key)));
}

type Named<N extends string, V> = Partial<Record<N, V>>;

/** Several records in one request, strongly consistent, by names of the caller's; one without a key is not asked for. */
export async function getNamed<N extends string>(keys: Named<N, Key>): Promise<Named<N, Item>> {
  const [found = {}] = await getEachNamed([keys]);
  return found;
}

/** As `getNamed`, for several that need records each, all in one request; together at most 100 keys. */
export async function getEachNamed<N extends string>(keysOfEach: readonly Named<N, Key>[]): Promise<Named<N, Item>[]> {
  const wanted = keysOfEach.flatMap((keys, index) =>
    Object.entries<Key | undefined>(keys).flatMap(([name, key]) => (key === undefined ? [] : [{ index, name, key }])),
  );
  const items = await getAll(wanted.map(({ key }) => key));
  const found = keysOfEach.map((): Record<string, Item> => ({}));
  for (const [at, { index, name }] of wanted.entries()) {
    const [item, each] = [items[at], found[index]];
    if (item !== undefined && each !== undefined) each[name] = item;
  }
  return found as Named<N, Item>[];
}

/** One page of the base table, strongly consistent. A page may be short although more follows. */
export function queryPage(input: Without<QueryCommandInput>) {
  return dynamodb.send(
    new QueryCommand({ ...aliased(input), TableName: env().TABLE_NAME, ConsistentRead: !input.IndexName }),
  );
}

/**
 * The items under a sort-key prefix (empty: the whole partition), in order. Without `most` only for sets that the
 * design bounds (open items, one message's texts).
 * @param after the rest of the sort key behind which to begin
 */
export async function queryPrefix(
  PK: string,
  prefix: string,
  most = Number.POSITIVE_INFINITY,
  after = "",
): Promise<Item[]> {
  const items: Item[] = [];
  let start: Item | undefined = after === "" ? undefined : { PK, SK: `${prefix}${after}` };
  do {
    const page = await queryPage({
      // Not `begins_with`, for which the local engine reads the whole partition; to DynamoDB they are the same.
      KeyConditionExpression: prefix === "" ? "PK = :pk" : "PK = :pk AND SK BETWEEN :prefix AND :last",
      ExpressionAttributeValues: {
        ":pk": PK,
        ...(prefix !== "" && { ":prefix": prefix, ":last": `${prefix}\u{10FFFF}` }),
      },
      ...(Number.isFinite(most) && { Limit: most - items.length }),
      ...(start && { ExclusiveStartKey: start }),
    });
    items.push(...(page.Items ?? []));
    start = page.LastEvaluatedKey;
  } while (start && items.length < most);
  return items;
}

const expressions = ["UpdateExpression", "ConditionExpression", "KeyConditionExpression", "FilterExpression"] as const;

/**
 * Names every `#attribute` of an input's expressions. Expressions alias each attribute, since DynamoDB reserves
 * words such as `status`, `name` and `ttl` and would refuse them bare.
 */
function aliased<T extends object>(input: T): T {
  const texts = expressions.map((name) => String(Reflect.get(input, name) ?? "")).join(" ");
  const used = texts.match(/#\w+/g) ?? [];
  if (used.length === 0) return input;
  const given: unknown = Reflect.get(input, "ExpressionAttributeNames");
  const names = {
    ...Object.fromEntries(used.map((alias) => [alias, alias.slice(1)])),
    ...(given as object | undefined),
  };
  return { ...input, ExpressionAttributeNames: names };
}

/** A plain, unconditional put: for immutable texts, which are written before what refers to them. */
export async function putAll(items: readonly Item[]): Promise<void> {
  const batches = Math.ceil(items.length / 25);
  await together(Array.from({ length: batches }, (_, batch) => putBatch(items.slice(batch * 25, (batch + 1) * 25))));
}

async function putBatch(items: readonly Item[]): Promise<void> {
  let pending = items.map((Item) => ({ PutRequest: { Item } }));
  for (let attempt = 0; pending.length > 0; attempt++) {
    if (attempt > 0) await backOff(attempt);
    const answer = await dynamodb.send(new BatchWriteCommand({ RequestItems: { [env().TABLE_NAME]: pending } }));
    pending = (answer.UnprocessedItems?.[env().TABLE_NAME] ?? []) as typeof pending;
  }
}

/** What a refused condition found; `item` is undefined when there was no record. */
export class ConditionFailed extends Error {
  override readonly name = "ConditionFailed";
  /** Index of the refused write in its transaction; 0 for a single write. */
  readonly index: number;
  readonly item: Item | undefined;

  constructor(index: number, item: Item | undefined) {
    super("A condition on the table did not hold.");
    this.index = index;
    this.item = item;
  }
}

/** @throws {ConditionFailed} with the record as it is */
export async function put(input: Without<PutCommandInput>): Promise<void> {
  await conditional(() =>
    dynamodb.send(
      new PutCommand({
        ...aliased(input),
        TableName: env().TABLE_NAME,
        ReturnValuesOnConditionCheckFailure: "ALL_OLD",
      }),
    ),
  );
}

/** Answers the record as it is after the update. @throws {ConditionFailed} with the record as it is */
export async function update(input: Without<UpdateCommandInput>): Promise<Item> {
  const { Attributes } = await conditional(() =>
    dynamodb.send(
      new UpdateCommand({
        ReturnValues: "ALL_NEW",
        ...aliased(input),
        TableName: env().TABLE_NAME,
        ReturnValuesOnConditionCheckFailure: "ALL_OLD",
      }),
    ),
  );
  return Attributes ?? {};
}

/** @throws {ConditionFailed} with the record as it is */
export async function remove(input: Without<DeleteCommandInput>): Promise<void> {
  await conditional(() =>
    dynamodb.send(
      new DeleteCommand({
        ...aliased(input),
        TableName: env().TABLE_NAME,
        ReturnValuesOnConditionCheckFailure: "ALL_OLD",
      }),
    ),
  );
}

const tries = 12;
/** Why a transaction may be cancelled without anything being wrong with it. */
const passingReasons = new Set(["TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"]);

/**
 * All writes or none. Conflicts with other writers are retried here: they say nothing about a condition.
 * @throws {ConditionFailed} for the first refused condition, with its record as it is
 */
export async function transact(writes: readonly Write[]): Promise<void> {
  const TransactItems = writes.map(inTable);
  for (let attempt = 1; ; attempt++) {
    try {
      await dynamodb.send(new TransactWriteCommand({ TransactItems }));
      return;
    } catch (error) {
      if (!(error instanceof TransactionCanceledException)) throw error;
      const reasons = error.CancellationReasons ?? [];
      const refused = reasons.findIndex(({ Code }) => Code === "ConditionalCheckFailed");
      if (refused >= 0) throw new ConditionFailed(refused, unmarshalled(reasons[refused]?.Item));
      const passing = reasons.some(({ Code }) => passingReasons.has(Code ?? ""));
      if (!passing || attempt === tries) throw error;
      await backOff(attempt);
    }
  }
}

function inTable(write: Write): TransactItem {
  const [[action, input]] = Object.entries(write) as [[string, object]];
  return {
    [action]: { ...aliased(input), TableName: env().TABLE_NAME, ReturnValuesOnConditionCheckFailure: "ALL_OLD" },
  } as TransactItem;
}

/** Runs one conditional write. A conflict with an open transaction is not a refused condition: it is retried. */
async function conditional<T>(write: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await write();
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) throw new ConditionFailed(0, unmarshalled(error.Item));
      if (!(error instanceof TransactionConflictException) || attempt === tries) throw error;
      await backOff(attempt);
    }
  }
}

const unmarshalled = (item: Parameters<typeof unmarshall>[0] | undefined): Item | undefined => item && unmarshall(item);

/** Full jitter, so that writers that met once do not meet again. */
const backOff = (attempt: number) => sleep(Math.random() * Math.min(500, 10 * 2 ** attempt));
