import { ChangeMessageVisibilityCommand } from "@aws-sdk/client-sqs";
import type { SQSBatchResponse, SQSEvent, SQSRecord } from "aws-lambda";
import { readWakeUp } from "../../_delivery/wake_up.ts";
import { sqs } from "../../_runtime/clients.ts";
import { env } from "../../_runtime/env.ts";
import { type Log, logFor } from "../../_runtime/log.ts";
import { together } from "../../_runtime/together.ts";
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
/** With the queue's long default, a thousand receives would take ten days to the dead-letter queue. */
const unreadableMs = 1_000;

/** Answers the records of one group that stay in the queue. */
async function workOff(records: SQSRecord[]): Promise<SQSRecord[]> {
  for (const [index, record] of records.entries()) {
    const log = logFor({ worker: "deliver", sqs_message_id: record.messageId });
    const comesBackIn = await workOffOne(record, log).catch((error: Error) => {
      log.error("wake-up failed; the queue brings it back", error);
      return troubleMs;
    });
    if (comesBackIn === undefined) continue;
    // All that is left of the group: one that stayed hidden for the queue's long default would hold up the others.
    const left = records.slice(index);
    await together(left.map((each) => hideFor(each, comesBackIn))).catch((error: Error) =>
      log.warn("wake-ups come back as late as the queue has it", error),
    );
    return left;
  }
  return [];
}

/** Undefined when the wake-up has done its work and may be deleted; otherwise in how many ms it is to come back. */
async function workOffOne(record: SQSRecord, log: Log): Promise<number | undefined> {
  const parsed = readWakeUp(record.body);
  if (!parsed.success) {
    log.error("unreadable wake-up; it will end in the dead-letter queue", { issues: parsed.error.issues });
    return unreadableMs;
  }
  const received = Number(record.attributes.ApproximateReceiveCount);
  return deliverNext(parsed.data, { hold: (ms) => hideFor(record, ms), received }, log);
}

const longestHiddenS = 900;

/** The wake-up comes back then, and until then its group waits. */
async function hideFor({ receiptHandle }: SQSRecord, ms: number): Promise<void> {
  await sqs.send(
    new ChangeMessageVisibilityCommand({
      QueueUrl: env().MESSAGES_QUEUE_URL,
      ReceiptHandle: receiptHandle,
      VisibilityTimeout: Math.min(longestHiddenS, Math.ceil(ms / 1000)),
    }),
  );
}
