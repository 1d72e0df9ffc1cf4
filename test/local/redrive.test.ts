import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { ReceiveMessageCommand, SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { afterAll, expect, inject, test } from "vitest";
import { localClient } from "../../infra/local/client_config.ts";
import { announce } from "../../infra/local/registry.ts";
import { deadLettersOf } from "../../infra/queues.ts";
import { acts, byWebhook, unique } from "../acts.ts";
import { holdQueue } from "../delivery/held_queue.ts";
import { startTestSystem } from "../system.ts";

const script = join(import.meta.dirname, "../../infra/redrive.ts");

const system = await startTestSystem();
const withdraw = announce({ pid: process.pid, port: system.port, url: system.url, env: system.env });
const sqs = new SQSClient({ ...localClient(inject("fauxqsEndpoint")), useQueueUrlAsEndpoint: true });
afterAll(async () => {
  withdraw();
  sqs.destroy();
  await system.stop();
});
const { call, register } = acts(system.tool);
const queue = await holdQueue(system);
const deadLetters = deadLettersOf(String(system.env.MESSAGES_QUEUE_URL));

/** Runs `npm run redrive -- <args>` as an operator does, against this file's system. */
function redrive(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    const all = [script, ...args, ...(args.includes("--port") ? [] : ["--port", String(system.port)])];
    execFile(process.execPath, all, (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code), out: out.trim(), err: err.trim() });
    });
  });
}

/** Puts a message where it would end after too many receives. */
const bury = (MessageBody: string, MessageGroupId = unique("g")) =>
  sqs.send(
    new SendMessageCommand({
      QueueUrl: deadLetters,
      MessageBody,
      MessageGroupId,
      MessageDeduplicationId: randomUUID(),
    }),
  );

const buried = async () => {
  const receive = new ReceiveMessageCommand({ QueueUrl: deadLetters, MaxNumberOfMessages: 10, VisibilityTimeout: 0 });
  return ((await sqs.send(receive)).Messages ?? []).map(({ Body }) => Body);
};

test("what is in the dead-letter queue is put back, and delivered in the order of its group", async () => {
  const webhook = await system.webhookAgent(() => ({ body: { content: "Yes." } }));
  const [sender, receiver] = [await register("asker"), await register("writer", byWebhook(webhook))];
  const [first, second] = [unique("s"), unique("s")];
  for (const [session_id, content] of [
    [first, "1"],
    [second, "2"],
    [first, "3"],
  ] as const)
    await call({ session_id, sender, receiver, content });
  for (const { MessageBody, MessageGroupId } of queue.to(receiver)) await bury(MessageBody, MessageGroupId);

  expect(await redrive()).toEqual({ code: 0, out: "3 messages put back.", err: "" });

  await webhook.received(3);
  const contents = webhook.deliveries.map(({ body }) => body.data.content);
  expect(contents.toSorted()).toEqual(["1", "2", "3"]);
  expect(contents.indexOf("1")).toBeLessThan(contents.indexOf("3"));
  expect(await buried()).toEqual([]);
});

test("a second time in the same five minutes too: SQS drops nothing as a duplicate", async () => {
  const webhook = await system.webhookAgent((_, index) => (index === 0 ? { status: 202 } : { body: { content: "." } }));
  const [sender, receiver] = [await register("asker"), await register("writer", byWebhook(webhook))];
  const session_id = unique("s");
  for (const n of [1, 2]) {
    await call({ session_id, sender, receiver, content: `${n}` });
    const { MessageBody = "", MessageGroupId = "" } = queue.to(receiver)[0] ?? {};
    await bury(MessageBody, MessageGroupId);
    expect((await redrive()).out).toBe("1 message put back.");
    await webhook.received(n);
  }
});

test("what is no wake-up is shown and stays, until --all puts it back too", async () => {
  await bury("not json");
  await bury('{"workspace":"local"}');
  await bury(JSON.stringify({ workspace: "local", receiver: "nobody", session_at: "x" }));

  const { code, out, err } = await redrive();

  expect({ code, err }).toEqual({ code: 0, err: "" });
  const lines = out.split("\n");
  expect(
    lines
      .slice(0, 2)
      .map((line) => line.replace(/^No wake-up: \S+ /, ""))
      .toSorted(),
  ).toEqual(["not json", '{"workspace":"local"}'].map((body) => JSON.stringify(body)).toSorted());
  expect(lines.slice(2)).toEqual([
    "1 message put back.",
    "2 messages left in the dead-letter queue; --all puts them back too.",
  ]);
  expect((await buried()).toSorted()).toEqual(["not json", '{"workspace":"local"}']);
  expect(await redrive("--all")).toMatchObject({ code: 0, out: "2 messages put back." });
  expect(await buried()).toEqual([]);
});

test("of an empty dead-letter queue it says so", async () => {
  expect(await redrive()).toEqual({ code: 0, out: "0 messages put back.", err: "" });
});

test.each([
  [["--port", "1"], "No local Switchboard is running on port 1. Start one with: npm start"],
  [["--al"], "Unknown option '--al'"],
])("%j is refused with a reason", async (args, reason) => {
  const { code, out, err } = await redrive(...args);
  expect({ code, out }).toEqual({ code: 1, out: "" });
  expect(err).toContain(reason);
});
