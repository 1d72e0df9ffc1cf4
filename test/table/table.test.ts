import { TransactionCanceledException, TransactionConflictException } from "@aws-sdk/client-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Write } from "../../functions/_table/table.ts";
import { unique } from "../acts.ts";
import { answered, intercept, lost, throttled } from "../delivery/intercept.ts";
import { noFunctions, startTestSystem } from "../system.ts";

/* What DynamoDB does beside answering: conflicts, throttling, lost answers, short pages, unprocessed parts. */

const system = await startTestSystem({}, noFunctions);
afterAll(() => system.stop());
const table = await import("../../functions/_table/table.ts");
const { asToolError } = await import("../../functions/_runtime/answer.ts");
const { logFor } = await import("../../functions/_runtime/log.ts");
const log = logFor({});

let stop: (() => void) | undefined;
// Full jitter of nothing: back-offs are there, but take no time.
beforeEach(() => void vi.spyOn(Math, "random").mockReturnValue(0));
afterEach(() => {
  stop?.();
  stop = undefined;
  vi.restoreAllMocks();
});

type Level = Parameters<typeof intercept>[2];

/** The first commands of that name fail in this way, one after another; all others go through. Counts the tries. */
async function failing(command: string, faults: (() => Error)[], level?: Level) {
  const count = { tries: 0 };
  const left = [...faults];
  stop = await intercept(
    "dynamodb",
    ({ name, send }) => {
      if (!name.startsWith(command)) return send();
      count.tries++;
      const fault = left.shift();
      return fault ? Promise.reject(fault()) : send();
    },
    level,
  );
  return count;
}

/** The first command of that name is carried out, but its answer never comes. */
async function losingAnswerOf(command: string) {
  const inputs: Record<string, unknown>[] = [];
  const between = async ({ name, input, send }: Parameters<Parameters<typeof intercept>[1]>[0]) => {
    const answer = await send();
    if (!name.startsWith(command)) return answer;
    if (inputs.push(input) === 1) throw lost();
    return answer;
  };
  stop = await intercept("dynamodb", between, "wire");
  return inputs;
}

const cancelled = (...codes: string[]) => {
  const CancellationReasons = codes.map((Code) => ({ Code }));
  return () => new TransactionCanceledException({ $metadata: {}, message: codes.join(), CancellationReasons });
};
const conflict = () => new TransactionConflictException({ $metadata: {}, message: "conflict" });

const newKey = () => ({ PK: `WS#test#${unique("record")}`, SK: "A" });
type NewKey = ReturnType<typeof newKey>;
const counting = (Key: NewKey) => ({
  Key,
  UpdateExpression: "ADD #count :one",
  ExpressionAttributeValues: { ":one": 1 },
});
const putOnce = (Key: NewKey): Write => ({
  Put: { Item: { ...Key, name: "first" }, ConditionExpression: "attribute_not_exists(PK)" },
});

async function refusalOf(write: Promise<unknown>): Promise<InstanceType<typeof table.ConditionFailed>> {
  const error: unknown = await write.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (error instanceof table.ConditionFailed) return error;
  throw error ?? new Error("The condition was not refused.");
}

describe("a transaction", () => {
  test.each(["TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"])(
    "that was cancelled for %s is tried again, and then done once",
    async (code) => {
      const [one, other] = [newKey(), newKey()];
      const count = await failing("TransactWrite", [cancelled("None", code), cancelled(code, "None")]);
      await table.transact([{ Update: counting(one) }, putOnce(other)]);
      expect(count.tries).toBe(3);
      expect(await table.getAll([one, other])).toEqual([
        { ...one, count: 1 },
        { ...other, name: "first" },
      ]);
    },
  );

  test("that meets conflicts without end fails as overload, never as a refused condition", async () => {
    const count = await failing(
      "TransactWrite",
      Array.from({ length: 99 }, () => cancelled("TransactionConflict")),
    );
    const error = await table.transact([putOnce(newKey())]).catch((error: unknown) => error);
    expect(error).not.toBeInstanceOf(table.ConditionFailed);
    expect(asToolError(error, log, "r")).toMatchObject({ type: "UNAVAILABLE", status: 503, retryable: true });
    expect(count.tries).toBeLessThan(20);
  });

  test("that was cancelled for good is not tried again", async () => {
    const count = await failing("TransactWrite", [cancelled("None", "ValidationError")]);
    await expect(table.transact([putOnce(newKey())])).rejects.toThrow(TransactionCanceledException);
    expect(count.tries).toBe(1);
  });

  test("tells which condition was refused, and what the record is", async () => {
    const [free, taken] = [newKey(), newKey()];
    await table.put({ Item: { ...taken, name: "there", tags: new Set(["a"]) } });
    const refused = await refusalOf(table.transact([putOnce(free), putOnce(taken)]));
    expect(refused).toMatchObject({ index: 1, item: { ...taken, name: "there", tags: new Set(["a"]) } });
    expect(await table.get(free)).toBeUndefined();
  });

  test("with a refused condition beside a conflict is refused: trying again would not help", async () => {
    const count = await failing("TransactWrite", [cancelled("TransactionConflict", "ConditionalCheckFailed")]);
    expect(await refusalOf(table.transact([putOnce(newKey()), putOnce(newKey())]))).toMatchObject({ index: 1 });
    expect(count.tries).toBe(1);
  });

  test("whose answer was lost is done once", async () => {
    const [one, other] = [newKey(), newKey()];
    const inputs = await losingAnswerOf("TransactWrite");
    await table.transact([{ Update: counting(one) }, putOnce(other)]);
    expect(inputs).toHaveLength(2);
    expect(await table.get(one)).toEqual({ ...one, count: 1 });
  });
});

describe("a single write", () => {
  const writes: Record<string, (key: NewKey) => Promise<unknown>> = {
    PutItem: (key) => table.put({ Item: key, ConditionExpression: "attribute_not_exists(PK)" }),
    UpdateItem: (key) => table.update(counting(key)),
    DeleteItem: (key) => table.remove({ Key: key, ConditionExpression: "attribute_not_exists(PK)" }),
  };

  test.each(Object.entries(writes))("%s that conflicts with a transaction is tried again", async (command, write) => {
    const count = await failing(command, [conflict, conflict]);
    await write(newKey());
    expect(count.tries).toBe(3);
  });

  test.each(Object.entries(writes))("%s that is throttled is tried again", async (command, write) => {
    const count = await failing(command, [throttled, lost], "wire");
    await write(newKey());
    expect(count.tries).toBe(3);
  });

  test.each(Object.entries(writes))("%s that always conflicts is not taken for refused", async (command, write) => {
    await failing(
      command,
      Array.from({ length: 99 }, () => conflict),
    );
    const error = await write(newKey()).catch((error: unknown) => error);
    expect(error).not.toBeInstanceOf(table.ConditionFailed);
    expect(asToolError(error, log, "r")).toMatchObject({ type: "UNAVAILABLE", retryable: true });
  });

  test("that is refused tells what the record is, and that there is none", async () => {
    const key = newKey();
    const mustExist = { Key: key, ConditionExpression: "attribute_exists(PK)" };
    expect((await refusalOf(table.update({ ...counting(key), ...mustExist }))).item).toBeUndefined();
    expect((await refusalOf(table.remove(mustExist))).item).toBeUndefined();
    await table.put({ Item: { ...key, name: "there" } });
    const refused = await refusalOf(table.put({ Item: key, ConditionExpression: "#name = :other", ...values("else") }));
    expect(refused).toMatchObject({ index: 0, item: { ...key, name: "there" } });
  });

  const values = (other: string) => ({ ExpressionAttributeValues: { ":other": other } });

  test("whose answer was lost meets itself: it is refused with what it wrote, for its caller to see", async () => {
    const key = newKey();
    await losingAnswerOf("PutItem");
    const mine = { Item: { ...key, claim: "mine" }, ConditionExpression: "attribute_not_exists(PK)" };
    expect(await refusalOf(table.put(mine))).toMatchObject({ item: { claim: "mine" } });
  });
});

describe("a sequence number", () => {
  test("whose reservation's answer was lost leaves a gap, and is never given out twice", async () => {
    const { takeSequence } = await import("../../functions/_table/sessions.ts");
    const session = { sessionId: unique("s"), userName: "alice", count: 2 };
    await losingAnswerOf("UpdateItem");
    const first = await takeSequence("test", session);
    expect([first, await takeSequence("test", session)]).toEqual([3, 5]);
  });
});

describe("a batch", () => {
  /** Answers each of these in turn, in DynamoDB's place. Remembers the inputs. */
  async function answering(command: string, outputs: object[]) {
    const inputs: Record<string, unknown>[] = [];
    const between = ({ name, input, send }: Parameters<Parameters<typeof intercept>[1]>[0]) => {
      const output = name.startsWith(command) ? outputs[inputs.push(input) - 1] : undefined;
      return output === undefined ? send() : Promise.resolve(answered({ $metadata: {}, ...output }));
    };
    stop = await intercept("dynamodb", between, "wire");
    return inputs;
  }
  const name = String(process.env.TABLE_NAME);

  test("of reads asks again for what was not processed, and for that alone", async () => {
    const keys = [newKey(), newKey(), newKey(), newKey()] as const;
    const [a, b, c, missing] = keys;
    for (const key of [a, b, c]) await table.put({ Item: key });
    const inputs = await answering("BatchGet", [
      { Responses: {}, UnprocessedKeys: { [name]: { Keys: keys } } },
      { Responses: { [name]: [a] }, UnprocessedKeys: { [name]: { Keys: [b, c] } } },
    ]);
    expect(await table.getAll([c, missing, a, b, a])).toEqual([c, undefined, a, b, a]);
    expect(inputs).toHaveLength(3);
    expect(inputs[2]?.RequestItems).toEqual({ [name]: { Keys: [marshall(b), marshall(c)], ConsistentRead: true } });
  });

  test("of writes sends again what was not processed, and that alone", async () => {
    const keys = Array.from({ length: 30 }, newKey);
    const puts = (items: Record<string, unknown>[]) => ({ [name]: items.map((Item) => ({ PutRequest: { Item } })) });
    const inputs = await answering("BatchWrite", [{ UnprocessedItems: puts(keys.slice(3, 5)) }]);
    await table.putAll(keys);
    expect(inputs).toHaveLength(3);
    expect(inputs[2]?.RequestItems).toEqual(puts(keys.slice(3, 5).map((key) => marshall(key))));
    expect((await table.getAll(keys.slice(3, 5))).every((item) => item !== undefined)).toBe(true);
  });

  test("of nothing asks nobody", async () => {
    const inputs = await answering("Batch", []);
    expect(await table.getAll([])).toEqual([]);
    await table.putAll([]);
    expect(inputs).toEqual([]);
  });
});

describe("a query", () => {
  async function partitionOf(count: number): Promise<NewKey[]> {
    const { PK } = newKey();
    const keys = Array.from({ length: count }, (_, index) => ({ PK, SK: `ITEM#${String(index).padStart(2, "0")}` }));
    await table.putAll(keys);
    return keys;
  }
  /** Before each page there is one without items, as DynamoDB may send it. */
  async function withEmptyPages() {
    const starts: unknown[] = [];
    let isEmpty = true;
    stop = await intercept(
      "dynamodb",
      async ({ name, input, send }) => {
        if (!name.startsWith("Query")) return send();
        starts.push(input.ExclusiveStartKey);
        isEmpty = !isEmpty;
        if (isEmpty) return send();
        const first = { PK: input.ExpressionAttributeValues[":pk"], SK: { S: "ITEM#" } };
        const LastEvaluatedKey = unmarshall(input.ExclusiveStartKey ?? first);
        return answered({ $metadata: {}, Items: [], Count: 0, LastEvaluatedKey });
      },
      "wire",
    );
    return starts;
  }

  test("goes on behind an empty page, finds everything in order and nothing twice", async () => {
    const keys = await partitionOf(7);
    const starts = await withEmptyPages();
    expect(await table.queryPrefix(keys[0]?.PK ?? "", "ITEM#")).toEqual(keys);
    expect(starts).toHaveLength(2);
  });

  test("answers no more than asked for, and goes on until it has as many", async () => {
    const keys = await partitionOf(7);
    await withEmptyPages();
    expect(await table.queryPrefix(keys[0]?.PK ?? "", "ITEM#", 3)).toEqual(keys.slice(0, 3));
  });

  test("begins behind the one it is given, whether or not that one is still there", async () => {
    const keys = await partitionOf(5);
    const { PK = "" } = keys[0] ?? {};
    expect(await table.queryPrefix(PK, "ITEM#", 2, "01")).toEqual(keys.slice(2, 4));
    await table.remove({ Key: { PK, SK: "ITEM#01" } });
    expect(await table.queryPrefix(PK, "ITEM#", 99, "01")).toEqual(keys.slice(2));
    expect(await table.queryPrefix(PK, "ITEM#", 99, "04")).toEqual([]);
  });
});

describe("the ttl", () => {
  test("is in whole seconds", () => {
    expect(table.ttl(1_800_000_000_999)).toBe(1_800_000_000);
    expect(table.retention(1_800_000_000_999)).toBe(1_800_000_000 + 90 * 86_400);
  });
});
