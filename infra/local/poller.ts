import { setTimeout as sleep } from "node:timers/promises";
import { DeleteMessageCommand, type Message, ReceiveMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import type { SQSBatchResponse, SQSEvent, SQSRecord } from "aws-lambda";
import { localClient, localIdentity } from "./client_config.ts";
import { queueArn } from "./queues.ts";
import { settled } from "./settled.ts";

/** A Lambda function behind an event source mapping with ReportBatchItemFailures. */
export type QueueHandler = (event: SQSEvent) => Promise<SQSBatchResponse>;

const mostAtOnce = 1_000;
const longestPauseMs = 5_000;

/**
 * Stands in for the event source mapping: polls the queue and runs the function for each message on its own,
 * many at once. What succeeded is deleted; what failed stays, and comes again when its visibility ends.
 * Order within a group and the way to the dead-letter queue are the queue's own rules.
 */
export class Poller {
  readonly #client: SQSClient;
  readonly #queueUrl: string;
  readonly #handler: QueueHandler;
  readonly #stopping = new AbortController();
  readonly #working = new Set<Promise<void>>();
  readonly #polling: Promise<void>;

  /** Starts polling. */
  constructor(queueUrl: string, handler: QueueHandler) {
    this.#client = new SQSClient({ ...localClient(new URL(queueUrl).origin), useQueueUrlAsEndpoint: true });
    this.#queueUrl = queueUrl;
    this.#handler = handler;
    this.#polling = this.#poll();
  }

  /** Takes no more messages and waits for those in work, at most `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping.abort();
    await this.#polling;
    await settled(this.#working, graceMs);
    this.#client.destroy();
  }

  async #poll(): Promise<void> {
    const { signal } = this.#stopping;
    for (let failures = 0; !signal.aborted; ) {
      try {
        for (const message of await this.#receive()) this.#start(message);
        failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        console.error("poller: can't receive messages:", error);
        failures += 1;
        // Stopping ends the pause early.
        await sleep(Math.min(longestPauseMs, 50 * 2 ** failures), undefined, { signal }).catch(() => {});
      }
    }
  }

  async #receive(): Promise<Message[]> {
    if (this.#working.size >= mostAtOnce) await Promise.race(this.#working);
    const { Messages = [] } = await this.#client.send(
      new ReceiveMessageCommand({
        QueueUrl: this.#queueUrl,
        MaxNumberOfMessages: Math.min(10, mostAtOnce - this.#working.size),
        WaitTimeSeconds: 20,
        MessageSystemAttributeNames: ["All"],
      }),
      { abortSignal: this.#stopping.signal },
    );
    return Messages;
  }

  #start(message: Message): void {
    const work = this.#handle(message).finally(() => this.#working.delete(work));
    this.#working.add(work);
  }

  async #handle(message: Message): Promise<void> {
    try {
      const answer = await this.#handler({ Records: [recordOf(message, this.#queueUrl)] });
      if (isFailure(answer)) return;
      const { ReceiptHandle } = message;
      await this.#client.send(new DeleteMessageCommand({ QueueUrl: this.#queueUrl, ReceiptHandle }));
    } catch (error) {
      console.error(`poller: message ${message.MessageId} failed:`, error);
    }
  }
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
