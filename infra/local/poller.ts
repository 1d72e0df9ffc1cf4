import { setTimeout as sleep } from "node:timers/promises";
import { DeleteMessageCommand, type Message, ReceiveMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import type { SQSBatchResponse, SQSEvent, SQSRecord } from "aws-lambda";
import { localClient, localIdentity } from "./client_config.ts";
import { queueArn } from "./queues.ts";
import { settled } from "./settled.ts";

/** A Lambda function behind an event source mapping with ReportBatchItemFailures. */
export type QueueHandler = (event: SQSEvent) => Promise<SQSBatchResponse>;

const mostAtOnce = 100;
const longestPauseMs = 5_000;

export interface Poller {
  /** Takes no more messages and waits for those in work, at most `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

/**
 * Stands in for the event source mapping: polls the queue and runs `handler` for each message on its own,
 * many at once. What succeeded is deleted; what failed stays, and comes again when its visibility ends.
 * Order within a group and the way to the dead-letter queue are the queue's own rules.
 */
export function startPoller(queueUrl: string, handler: QueueHandler): Poller {
  const client = new SQSClient({ ...localClient(new URL(queueUrl).origin), useQueueUrlAsEndpoint: true });
  const stopping = new AbortController();
  const working = new Set<Promise<void>>();

  async function poll(): Promise<void> {
    for (let failures = 0; !stopping.signal.aborted; ) {
      try {
        if (working.size >= mostAtOnce) await Promise.race(working);
        for (const message of await receive(Math.min(10, mostAtOnce - working.size))) {
          const work = handle(message).finally(() => working.delete(work));
          working.add(work);
        }
        failures = 0;
      } catch (error) {
        if (stopping.signal.aborted) return;
        console.error("poller: can't receive messages:", error);
        failures += 1;
        const pauseMs = Math.min(longestPauseMs, 50 * 2 ** failures);
        await sleep(pauseMs, undefined, { signal: stopping.signal }).catch(() => {});
      }
    }
  }

  async function receive(most: number): Promise<Message[]> {
    const answer = await client.send(
      new ReceiveMessageCommand({
        QueueUrl: queueUrl,
        MaxNumberOfMessages: most,
        WaitTimeSeconds: 20,
        MessageSystemAttributeNames: ["All"],
        MessageAttributeNames: ["All"],
      }),
      { abortSignal: stopping.signal },
    );
    return answer.Messages ?? [];
  }

  async function handle(message: Message): Promise<void> {
    try {
      if (isFailure(await handler({ Records: [recordOf(message, queueUrl)] }))) return;
      await client.send(new DeleteMessageCommand({ QueueUrl: queueUrl, ReceiptHandle: message.ReceiptHandle }));
    } catch (error) {
      console.error(`poller: message ${message.MessageId} failed:`, error);
    }
  }

  const polling = poll();
  const stop = async (graceMs: number) => {
    stopping.abort();
    await polling;
    await settled(working, graceMs);
    client.destroy();
  };
  return { stop };
}

/** Lambda's rule for a batch of one: no list or an empty one is success; any entry, known or not, is failure. */
function isFailure(answer: SQSBatchResponse | null | undefined): boolean {
  return (answer?.batchItemFailures ?? []).length > 0;
}

function recordOf(message: Message, queueUrl: string): SQSRecord {
  const { MessageId = "", ReceiptHandle = "", Body = "", MD5OfBody = "", Attributes = {} } = message;
  return {
    messageId: MessageId,
    receiptHandle: ReceiptHandle,
    body: Body,
    attributes: Attributes as unknown as SQSRecord["attributes"],
    messageAttributes: {},
    md5OfBody: MD5OfBody,
    eventSource: "aws:sqs",
    eventSourceARN: queueArn(queueUrl.split("/").at(-1) ?? ""),
    awsRegion: localIdentity.region,
  };
}
