import { randomBytes } from "node:crypto";
import {
  ChangeMessageVisibilityCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SetQueueAttributesCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import type { SQSRecord } from "aws-lambda";
import { afterAll, afterEach, beforeEach, expect, inject, test, vi } from "vitest";
import { localClient } from "../../infra/local/client_config.ts";
import { Poller, type QueueHandler } from "../../infra/local/poller.ts";
import { createQueues, queueArn } from "../../infra/local/queues.ts";

const sqs = new SQSClient({ ...localClient(inject("fauxqsEndpoint")), useQueueUrlAsEndpoint: true });
const log = vi.spyOn(console, "error").mockImplementation(() => {});

let name: string;
let queueUrl: string;
let poller: Poller | undefined;

beforeEach(async () => {
  name = `poller-${randomBytes(8).toString("hex")}`;
  queueUrl = await createQueues(inject("fauxqsEndpoint"), `${name}.fifo`);
});

afterEach(async () => {
  await poller?.stop(0);
  poller = undefined;
  log.mockClear();
});

afterAll(() => sqs.destroy());

/** Sends bodies to groups, in order. */
async function send(...messages: readonly (readonly [group: string, body: string])[]): Promise<void> {
  for (const [MessageGroupId, MessageBody] of messages) {
    const MessageDeduplicationId = randomBytes(8).toString("hex");
    await sqs.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody, MessageGroupId, MessageDeduplicationId }));
  }
}

/** Makes a message visible again now, as `deliver` does for a retry. */
const returnNow = ({ receiptHandle }: SQSRecord) =>
  sqs.send(
    new ChangeMessageVisibilityCommand({ QueueUrl: queueUrl, ReceiptHandle: receiptHandle, VisibilityTimeout: 0 }),
  );

/** Polls with a handler of one record, whose failure is reported as Lambda wants it. */
function pollWith(handle: (record: SQSRecord) => Promise<"ok" | "failed">): void {
  const handler: QueueHandler = async ({ Records }) => {
    const [record] = Records;
    if (!record || Records.length > 1) throw new Error("A batch of one was expected.");
    const failed = (await handle(record)) === "failed";
    return { batchItemFailures: failed ? [{ itemIdentifier: record.messageId }] : [] };
  };
  poller = new Poller(queueUrl, handler);
}

test("the next message of a group is handed over once the one before it is done; other groups overlap", async () => {
  const first = Promise.withResolvers<void>();
  const otherGroup = Promise.withResolvers<void>();
  const all = Promise.withResolvers<void>();
  const events: string[] = [];
  await send(["a", "a1"], ["a", "a2"], ["b", "b1"]);
  pollWith(async ({ body }) => {
    events.push(`${body} starts`);
    if (body === "a1") await first.promise;
    events.push(`${body} ends`);
    if (body === "b1") otherGroup.resolve();
    if (body === "a2") all.resolve();
    return "ok";
  });
  await otherGroup.promise;
  first.resolve();
  await all.promise;
  expect(events.slice(-3)).toEqual(["a1 ends", "a2 starts", "a2 ends"]);
  expect(events.indexOf("b1 ends")).toBeLessThan(events.indexOf("a1 ends"));
});

test("a record looks as Lambda's event source mapping makes it", async () => {
  const seen = Promise.withResolvers<SQSRecord>();
  await send(["a", "hello"]);
  pollWith(async (record) => {
    seen.resolve(record);
    return "ok";
  });
  expect(await seen.promise).toMatchObject({
    body: "hello",
    eventSource: "aws:sqs",
    eventSourceARN: queueArn(`${name}.fifo`),
    attributes: { MessageGroupId: "a", ApproximateReceiveCount: "1" },
  });
});

test("what fails comes again before the rest of its group, until it is done", async () => {
  const done = Promise.withResolvers<void>();
  const events: string[] = [];
  await send(["a", "a1"], ["a", "a2"]);
  pollWith(async (record) => {
    const { body, attributes } = record;
    events.push(`${body} #${attributes.ApproximateReceiveCount}`);
    if (body === "a2") done.resolve();
    if (body === "a2" || attributes.ApproximateReceiveCount === "3") return "ok";
    await returnNow(record);
    return "failed";
  });
  await done.promise;
  expect(events).toEqual(["a1 #1", "a1 #2", "a1 #3", "a2 #1"]);
});

test("a handler that throws stops nothing but its own group, and its message ends in the dead-letter queue", async () => {
  const deadLetterTargetArn = queueArn(`${name}-dlq.fifo`);
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 2 });
  await sqs.send(new SetQueueAttributesCommand({ QueueUrl: queueUrl, Attributes: { RedrivePolicy } }));
  const others = Promise.withResolvers<void>();
  const rest = Promise.withResolvers<void>();
  await send(["bob", "not json"], ["bob", '"fine"'], ["alice", '"good"']);
  pollWith(async (record) => {
    if (record.body === "not json") await returnNow(record);
    const text: unknown = JSON.parse(record.body);
    if (text === "good") others.resolve();
    if (text === "fine") rest.resolve();
    return "ok";
  });
  await Promise.all([others.promise, rest.promise]);
  const { Messages } = await sqs.send(
    new ReceiveMessageCommand({ QueueUrl: queueUrl.replace(".fifo", "-dlq.fifo"), WaitTimeSeconds: 5 }),
  );
  expect(Messages).toMatchObject([{ Body: "not json" }]);
  expect(log).toHaveBeenCalledTimes(2);
});

test("a hundred messages are in work at once, and not one more", async () => {
  const full = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const all = Promise.withResolvers<void>();
  let [inWork, most, done] = [0, 0, 0];
  await send(...Array.from({ length: 120 }, (_, n) => [`group-${n}`, `${n}`] as const));
  pollWith(async () => {
    inWork += 1;
    most = Math.max(most, inWork);
    if (inWork === 100) full.resolve();
    await release.promise;
    inWork -= 1;
    done += 1;
    if (done === 120) all.resolve();
    return "ok";
  });
  await full.promise;
  release.resolve();
  await all.promise;
  expect(most).toBe(100);
});

test("a queue that does not answer is tried again", async () => {
  const seen = Promise.withResolvers<string>();
  queueUrl = queueUrl.replace(name, `${name}-late`);
  pollWith(async ({ body }) => {
    seen.resolve(body);
    return "ok";
  });
  await vi.waitFor(() => expect(log).toHaveBeenCalled());
  await createQueues(inject("fauxqsEndpoint"), `${name}-late.fifo`);
  await send(["a", "hello"]);
  expect(await seen.promise).toBe("hello");
});

test("stopping waits for the messages in work and takes no more", async () => {
  const started = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const events: string[] = [];
  await send(["a", "a1"]);
  pollWith(async ({ body }) => {
    started.resolve();
    await release.promise;
    events.push(body);
    return "ok";
  });
  await started.promise;
  const stopped = poller?.stop(10_000);
  await send(["b", "b1"]);
  release.resolve();
  await stopped;
  expect(events).toEqual(["a1"]);
});
