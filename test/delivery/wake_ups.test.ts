import {
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SetQueueAttributesCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { afterAll, describe, expect, inject, onTestFinished, test } from "vitest";
import { contract as callAgent } from "../../functions/call_agent/contract.ts";
import { localClient } from "../../infra/local/client_config.ts";
import { acts, byWebhook, unique } from "../acts.ts";
import { startTestSystem } from "../system.ts";
import { tableItems } from "../table_items.ts";
import { answered, intercept } from "./intercept.ts";

/* What goes to SQS, and what happens when it does not get there. */

const system = await startTestSystem();
const sqs = new SQSClient({ ...localClient(inject("fauxqsEndpoint")), useQueueUrlAsEndpoint: true });
afterAll(async () => {
  sqs.destroy();
  await system.stop();
});
const { tool } = system;
const { assign, call, register } = acts(tool);

const agent = () => system.webhookAgent(() => ({ body: { content: "Yes." } }));

interface Entry {
  Id: string;
  MessageBody: string;
  MessageGroupId: string;
  MessageDeduplicationId: string;
}

/** Notes everything that is sent from now on; `lose` says which entries SQS doesn't take, or throws. */
async function watchSends(lose: (entries: Entry[]) => Entry[] = () => []): Promise<Entry[]> {
  const sent: Entry[] = [];
  const stop = await intercept("sqs", async ({ name, input, send }) => {
    if (name !== "SendMessageBatchCommand") return send();
    const entries: Entry[] = input.Entries;
    sent.push(...entries);
    const Failed = lose(entries).map(({ Id }) => ({ Id, Code: "InternalError", SenderFault: false }));
    if (Failed.length === 0) return send();
    input.Entries = entries.filter(({ Id }) => !Failed.some((failed) => failed.Id === Id));
    const { output } = input.Entries.length > 0 ? await send() : answered({});
    return answered({ ...output, Failed });
  });
  onTestFinished(stop);
  return sent;
}

test("a wake-up names its group and nothing of the message, and its dedup id is the message's", async () => {
  const sent = await watchSends();
  const webhook = await agent();
  const [sender, receiver] = [await register("asker"), await register("writer", byWebhook(webhook))];
  const session_id = unique("会话 #1");
  const content = "中".repeat(20_000);

  const { body } = await call({ session_id, sender, receiver, content }, 20);

  expect(body.content).toBe("Yes.");
  expect(webhook.deliveries[0]?.body.data.content).toBe(content);
  const [wakeUp] = sent;
  expect(wakeUp).toMatchObject({
    MessageGroupId: expect.stringMatching(/^[!-~]{1,128}$/),
    MessageDeduplicationId: `${body.call_id}-0`,
  });
  expect(wakeUp?.MessageDeduplicationId).toMatch(/^[!-~]{1,128}$/);
  expect(wakeUp?.MessageBody.length).toBeLessThan(300);
});

test("the same text twice arrives twice, and so does a text for two agents", async () => {
  const webhook = await agent();
  const [sender, b, c] = [
    await register("asker"),
    await register("writer", byWebhook(webhook)),
    await register("coder", byWebhook(webhook)),
  ];
  const session_id = unique("s");
  for (const receiver of [b, b, b, c]) await call({ session_id, sender, receiver, content: "收到" });
  await webhook.received(4);
  expect(webhook.deliveries.map(({ body }) => body.data.content)).toEqual(Array(4).fill("收到"));
  expect(new Set(webhook.deliveries.map(({ headers }) => headers["webhook-id"])).size).toBe(4);
});

test("a repeat under the same Idempotency-Key sends at most the same wake-up again, and the agent gets one message", async () => {
  const sent = await watchSends();
  const webhook = await system.webhookAgent(() => ({ status: 202 }));
  const [sender, receiver, session_id] = [
    await register("asker"),
    await register("writer", byWebhook(webhook)),
    unique("s"),
  ];
  const input = { session_id, user_name: "alice", sender, receiver, content: "Once." };
  const headers = { "idempotency-key": unique("key"), prefer: "respond-async" };

  const answers = [await tool("call_agent", input, { headers }), await tool("call_agent", input, { headers })];
  await webhook.received(1);
  await system.sweep(61);

  expect(new Set(answers.map(({ body }) => body.call_id)).size).toBe(1);
  expect(new Set(sent.map(({ MessageDeduplicationId }) => MessageDeduplicationId)).size).toBe(1);
  expect(webhook.deliveries).toHaveLength(1);
});

describe("a wake-up that SQS does not take", () => {
  test("one of three: the others are delivered at once, this one by the next sweep, each once", async () => {
    const webhook = await system.webhookAgent(() => ({ body: { content: "Done." } }));
    const leader = await register("lead", { role: "director" });
    const executors = await Promise.all(["a", "b", "c"].map((name) => register(name, byWebhook(webhook))));
    let first = true;
    const sent = await watchSends((entries) => {
      const lost = first ? entries.slice(1, 2) : [];
      first = false;
      return lost;
    });
    const tasks = executors.map((executor) => ({ name: executor, executor, content: "Work." }));
    const project_name = unique("site");

    const { status, body } = await assign({ session_id: unique("s"), leader, project_name, tasks });

    expect([status, body.tasks.map((task) => task.status)]).toEqual([200, ["assigned", "assigned", "assigned"]]);
    await webhook.received(2);
    const receivers = () => webhook.deliveries.map((delivery) => delivery.body.data.receiver).toSorted();
    expect(receivers()).toEqual([executors[0], executors[2]].toSorted());
    const before = sent.length;
    await system.sweep(61);
    await webhook.received(3);
    expect(receivers()).toEqual(executors.toSorted());
    expect(sent.slice(before).map(({ MessageBody }) => JSON.parse(MessageBody).receiver)).toContain(executors[1]);
    expect(webhook.deliveries.map((delivery) => delivery.body.data.attempt)).toEqual([1, 1, 1]);
  });

  test("because sending fails: the call is acknowledged, its repeat finds it, and the next sweep delivers it once", async () => {
    const webhook = await agent();
    const [sender, receiver] = [await register("asker"), await register("writer", byWebhook(webhook))];
    let failures = 1;
    await watchSends(() => {
      if (failures-- > 0) throw Object.assign(new Error("no queue"), { name: "ServiceUnavailable" });
      return [];
    });
    const input = { session_id: unique("s"), user_name: "alice", sender, receiver, content: "Once." };
    const headers = { "idempotency-key": unique("key"), prefer: "respond-async" };

    const first = await tool("call_agent", input, { headers });
    const repeat = await tool("call_agent", input, { headers });

    expect([first.status, repeat.status, repeat.body.call_id]).toEqual([202, 202, first.body.call_id]);
    expect(webhook.deliveries).toHaveLength(0);
    await system.sweep(61);
    await webhook.received(1);
    const found = async () => (await tool("call_agent", input, { headers })).body;
    await expect.poll(found).toMatchObject({ code: 0, content: "Yes.", call_id: first.body.call_id });
    await system.sweep(61);
    expect(webhook.deliveries).toHaveLength(1);
  });
});

test("a message that is no wake-up ends in the dead-letter queue, while others are delivered", async () => {
  const QueueUrl = String(system.env.MESSAGES_QUEUE_URL);
  const { Attributes = {} } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["RedrivePolicy"] }),
  );
  const RedrivePolicy = JSON.stringify({ ...JSON.parse(Attributes.RedrivePolicy ?? "{}"), maxReceiveCount: 2 });
  await sqs.send(new SetQueueAttributesCommand({ QueueUrl, Attributes: { RedrivePolicy } }));
  const webhook = await agent();
  const [sender, receiver] = [await register("asker"), await register("writer", byWebhook(webhook))];
  const message = { MessageBody: "not json", MessageGroupId: "strange", MessageDeduplicationId: unique("d") };
  await sqs.send(new SendMessageCommand({ QueueUrl, ...message }));

  expect(await call({ session_id: unique("s"), sender, receiver }, 20)).toMatchObject({ status: 200 });

  const deadLetters = QueueUrl.replace(/\.fifo$/, "-dlq.fifo");
  const { Messages } = await sqs.send(new ReceiveMessageCommand({ QueueUrl: deadLetters, WaitTimeSeconds: 20 }));
  expect(Messages).toMatchObject([{ Body: "not json" }]);
});

describe("content is measured in bytes of UTF-8", () => {
  const limit = 64 * 1024;
  const exact = `${"中".repeat(21_845)}!`;
  test.each([
    ["90,000 characters of three bytes", "中".repeat(90_000)],
    ["30,000 characters of three bytes", "中".repeat(30_000)],
    ["one byte more than 64 KiB", `${exact}!`],
    ["characters outside the first plane", "😀".repeat(16_385)],
  ])("%s are refused before anything is written or sent", async (_, content) => {
    const sent = await watchSends();
    const webhook = await agent();
    const [sender, receiver] = [await register("asker"), await register("writer", byWebhook(webhook))];
    const leader = await register("lead", { role: "director" });
    const before = await tableItems();

    const asked = await call({ session_id: unique("s"), sender, receiver, content });
    const tasks = [{ name: "text", executor: receiver, content }];
    const assigned = await assign({ session_id: unique("s"), leader, project_name: "site", tasks });

    for (const { status, body } of [asked, assigned]) {
      expect([status, body.error?.type]).toEqual([413, "CONTENT_TOO_LARGE"]);
      expect(body.error?.message).toContain("content");
    }
    expect(await tableItems()).toEqual(before);
    expect(sent).toEqual([]);
  });

  test("exactly 64 KiB are delivered whole", async () => {
    expect(Buffer.byteLength(exact)).toBe(limit);
    const webhook = await agent();
    const [sender, receiver] = [await register("asker"), await register("writer", byWebhook(webhook))];
    const { status } = await call({ session_id: unique("s"), sender, receiver, content: exact }, 20);
    expect([status, webhook.deliveries[0]?.body.data.content]).toEqual([200, exact]);
    expect(callAgent.input.shape.content.safeParse("x".repeat(limit + 1)).success).toBe(false);
  });
});
