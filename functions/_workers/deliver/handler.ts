import { ChangeMessageVisibilityCommand } from "@aws-sdk/client-sqs";
import type { SQSBatchResponse, SQSEvent, SQSRecord } from "aws-lambda";
import { wakeUp } from "../../_delivery/wake_up.ts";
import { sqs } from "../../_runtime/clients.ts";
import { env } from "../../_runtime/env.ts";
import { type Log, logFor } from "../../_runtime/log.ts";
import { deliverNext } from "./deliver_next.ts";

/**
 * Works off wake-ups. Groups run side by side, a group's wake-ups one after another; after one that must wait,
 * the rest of its group is left for later, so that order holds. Whatever is reported as failed stays in the
 * queue; a wake-up that can't be read ends in the dead-letter queue.
 */
export async function handler(event: SQSEvent): Promise<SQSBatchResponse> {
  const groups = Map.groupBy(event.Records, (record) => record.attributes.MessageGroupId ?? record.messageId);
  const failed = await Promise.all([...groups.values()].map(workOff));
  return { batchItemFailures: failed.flat().map(({ messageId }) => ({ itemIdentifier: messageId })) };
}

/** Most trouble passes soon; the queue's long default would keep the group waiting for a quarter of an hour. */
const troubleMs = 10_000;

/** Answers the records of one group that stay in the queue. */
async function workOff(records: SQSRecord[]): Promise<SQSRecord[]> {
  for (const [index, record] of records.entries()) {
    const log = logFor({ worker: "deliver", sqs_message_id: record.messageId });
    const done = await workOffOne(record, log).catch(async (error: Error) => {
      log.error("wake-up failed; the queue brings it back", error);
      await hideFor(record, troubleMs).catch(() => {}); // Then it comes back later, as the queue has it.
      return false;
    });
    if (!done) return records.slice(index);
  }
  return [];
}

/** With the queue's long default, a thousand receives would take ten days to the dead-letter queue. */
const unreadableMs = 1_000;

/** True when the wake-up has done its work and may be deleted. */
async function workOffOne(record: SQSRecord, log: Log): Promise<boolean> {
  const parsed = wakeUp.safeParse(parseJson(record.body));
  const hold = (ms: number) => hideFor(record, ms);
  if (!parsed.success) {
    log.error("unreadable wake-up; it will end in the dead-letter queue", { issues: parsed.error.issues });
    await hold(unreadableMs);
    return false;
  }
  const retryInMs = await deliverNext(parsed.data, hold, log);
  if (retryInMs === undefined) return true;
  await hold(retryInMs);
  return false;
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

const longestHiddenS = 900;

/** The wake-up, and its group behind it, comes back then. */
async function hideFor({ receiptHandle }: SQSRecord, ms: number): Promise<void> {
  await sqs.send(
    new ChangeMessageVisibilityCommand({
      QueueUrl: env().MESSAGES_QUEUE_URL,
      ReceiptHandle: receiptHandle,
      VisibilityTimeout: Math.min(longestHiddenS, Math.ceil(ms / 1000)),
    }),
  );
}
