import {
  ProvisionedThroughputExceededException,
  TransactionCanceledException,
  TransactionConflictException,
} from "@aws-sdk/client-dynamodb";
import { afterAll, beforeEach, describe, expect, test, vi } from "vitest";
import { acts, byWebhook, unique } from "../acts.ts";
import { moveClock } from "../clock.ts";
import { holdQueue } from "../delivery/held_queue.ts";
import { type Answer, intercept, lost } from "../delivery/intercept.ts";
import { startTestSystem } from "../system.ts";

/*
 * Round trips with faults in what DynamoDB answers. Clients repeat what was not acknowledged, the queue brings
 * back what failed, sweep does its work; in the end all must be as if nothing had happened.
 */

vi.setConfig({ testTimeout: 60_000 });

const system = await startTestSystem();
afterAll(() => system.stop());
const { tool } = system;
const { receive, register, statusOf } = acts(tool);
const queue = await holdQueue(system);
// No jitter: the pauses before repeats, the SDK's and ours, are as short as they can be.
beforeEach(() => void vi.spyOn(Math, "random").mockReturnValue(0));

const webhook = await system.webhookAgent(({ body }) => ({ body: { content: `re: ${body.data.content}` } }));
const distinct = (receiver: string) => {
  const own = webhook.deliveries.filter(({ body }) => body.data.receiver === receiver);
  return { deliveries: own.length, ids: new Set(own.map(({ headers }) => headers["webhook-id"])).size };
};

const writes = /^(Put|Update|Delete|BatchWrite|TransactWrite)/;
/** Writes that have not been answered: a Lambda that answers first may never finish them. */
let underWay = 0;
await intercept("dynamodb", async ({ name, send }) => {
  if (!writes.test(name)) return send();
  underWay += 1;
  return send().finally(() => {
    underWay -= 1;
  });
});

interface RoundTrip {
  request: () => Promise<{ status: number; body: object }>;
  receiver: string;
  isOver: (body: object) => boolean;
  assess: () => Promise<void>;
}

/** A call that is not waited for: its reply comes to its sender as a message. */
async function aCall(): Promise<RoundTrip> {
  const [sender, receiver] = [await register("asker"), await register("writer", byWebhook(webhook))];
  const input = { session_id: unique("s"), user_name: "alice", sender, receiver, content: "hello" };
  const headers = { "idempotency-key": unique("key"), prefer: "respond-async" };
  const request = () => tool("call_agent", input, { headers });
  const assess = async () => {
    const { body } = await request();
    expect(body).toMatchObject({ code: 0, content: "re: hello", sender: receiver });
    const { messages } = (await receive(sender, { limit: 10 })).body;
    expect(messages).toMatchObject([{ kind: "reply", call_id: Reflect.get(body, "call_id"), content: "re: hello" }]);
  };
  return { request, receiver, isOver: (body) => Reflect.get(body, "code") === 0, assess };
}

/** An assignment of one task: its end comes to its leader as a report. */
async function anAssignment(): Promise<RoundTrip> {
  const leader = await register("lead", { role: "director" });
  const receiver = await register("writer", byWebhook(webhook));
  const names = { session_id: unique("s"), user_name: "alice", project_name: unique("site") };
  const input = { ...names, leader, content: "All.", tasks: [{ name: "text", executor: receiver, content: "Write." }] };
  const headers = { "idempotency-key": unique("key") };
  const request = () => tool("assign_agent_work", input, { headers });
  const done = [{ name: "text", status: "done", detailed: "re: All.\n\nWrite." }];
  const assess = async () => {
    expect((await request()).body).toMatchObject({ code: 0, tasks: done });
    const project = await tool("get_project", { user_name: "alice", project_name: names.project_name });
    expect(project.body.tasks).toMatchObject(done);
    const { messages } = (await receive(leader, { limit: 10 })).body;
    expect(messages).toMatchObject([{ kind: "report", tasks: done }]);
  };
  return { request, receiver, isOver: (body) => JSON.stringify(body).includes('"done"'), assess };
}

/** What clients, the queue and sweep do until it is over. Answers how often a client was refused. */
async function play({ request, receiver, isOver }: RoundTrip): Promise<number> {
  let refusals = 0;
  for (let round = 0; round < 12; round++) {
    const { status, body } = await request();
    expect(underWay).toBe(0);
    if (isOver(body)) return refusals;
    if (status === 503) {
      refusals += 1;
      continue;
    }
    expect(status).toBeLessThan(300);
    if (queue.to(receiver).length === 0) await system.sweep(61);
    const stays = await queue.deliver(queue.to(receiver).at(-1));
    expect(underWay).toBe(0);
    if (stays.length > 0) moveClock(66_000);
  }
  throw new Error("It does not come to an end.");
}

type Fault = (command: { name: string; input: object; send: () => Promise<Answer> }) => Promise<Answer>;

async function assess({ receiver, assess }: RoundTrip, mostDeliveries: number): Promise<void> {
  await assess();
  const { deliveries, ids } = distinct(receiver);
  expect(ids).toBe(1);
  expect(deliveries).toBeLessThanOrEqual(mostDeliveries);
  expect((await statusOf(receiver)).todos).toEqual([]);
}

/** One round trip, all of whose requests meet the fault: nobody notices. */
async function withAll(trip: RoundTrip, level: "command" | "wire", fault: Fault): Promise<void> {
  const stop = await intercept("dynamodb", fault, level);
  expect(await play(trip).finally(stop)).toBe(0);
  await assess(trip, 1);
}

/**
 * A round trip with the fault at the first request that `hits`, one with the fault at the second, and so on
 * until one gets through without meeting it. Answers how many met it.
 */
async function atEach(prepare: () => Promise<RoundTrip>, hits: RegExp, fault: Fault): Promise<number> {
  for (let at = 1; ; at++) {
    const trip = await prepare();
    let left = at;
    const stop = await intercept("dynamodb", (command) =>
      hits.test(command.name) && --left === 0 ? fault(command) : command.send(),
    );
    expect(await play(trip).finally(stop)).toBeLessThanOrEqual(1);
    await assess(trip, 2);
    if (left > 0) return at - 1;
  }
}

const throttle = () => {
  throw new ProvisionedThroughputExceededException({ message: "Too much.", $metadata: {} });
};
const losing: Fault = async ({ send }) => {
  await send();
  throw lost();
};

/** Lets each request meet the fault at its first try only. */
function atFirst(fault: Fault): Fault {
  const tried = new WeakSet<object>();
  return (command) => {
    if (tried.has(command.input)) return command.send();
    tried.add(command.input);
    return fault(command);
  };
}

/** Five of six writes meet another transaction. */
function amongOthers(): Fault {
  let met = 0;
  return async ({ name, send }) => {
    if (!writes.test(name) || name.startsWith("Batch") || met++ % 6 === 5) return send();
    const of = { message: "Conflict.", $metadata: {} };
    if (!name.startsWith("Transact")) throw new TransactionConflictException(of);
    const CancellationReasons = [{ Code: "None" }, { Code: "TransactionConflict", Message: "Conflict." }];
    throw new TransactionCanceledException({ ...of, CancellationReasons });
  };
}

describe.each([
  ["a call", aCall],
  ["an assignment", anAssignment],
] as const)("%s", (_, prepare) => {
  test("is carried out once, and at once, when every request is throttled", async () => {
    await withAll(await prepare(), "wire", atFirst(throttle));
  });

  test("is carried out once, and at once, when every request is answered, but the answers are lost", async () => {
    await withAll(await prepare(), "wire", atFirst(losing));
  });

  test("is carried out once, and at once, when every write meets other transactions, again and again", async () => {
    await withAll(await prepare(), "command", amongOthers());
  });

  test("comes to its end, and to one, when any one request fails for good", async () => {
    expect(await atEach(prepare, /./, throttle)).toBeGreaterThan(15);
  });

  test("comes to its end, and to one, when any one write is made and its answer is lost for good", async () => {
    expect(await atEach(prepare, writes, losing)).toBeGreaterThan(5);
  });
});
