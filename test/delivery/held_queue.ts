import type { SQSRecord } from "aws-lambda";
import type { TestSystem } from "../system.ts";
import { answered, intercept } from "./intercept.ts";

/** A wake-up as it was sent to the queue. */
interface SentWakeUp {
  MessageBody: string;
  MessageGroupId: string;
  MessageDeduplicationId: string;
}

export interface HeldQueue {
  /** Everything that was sent, in order. */
  sent: SentWakeUp[];
  /** The wake-ups of one agent. */
  to(agent: string): SentWakeUp[];
  /** Runs `deliver` with these, in one batch. Answers which of them stay in the queue, by their place. */
  deliver(...wakeUps: readonly (SentWakeUp | undefined)[]): Promise<number[]>;
  /** For how many seconds `deliver` hid each wake-up that stays, in order. */
  hidden: number[];
}

/** Keeps this file's wake-ups from the queue, so that its tests decide when each is worked off. */
export async function holdQueue({ functions }: TestSystem): Promise<HeldQueue> {
  const sent: SentWakeUp[] = [];
  const hidden: number[] = [];
  await intercept("sqs", async ({ name, input, send }) => {
    if (name === "SendMessageBatchCommand") sent.push(...input.Entries);
    else if (name === "ChangeMessageVisibilityCommand") hidden.push(input.VisibilityTimeout);
    else return send();
    return answered({});
  });
  return {
    sent,
    hidden,
    to: (agent) => sent.filter(({ MessageBody }) => JSON.parse(MessageBody).receiver === agent),
    deliver: async (...wakeUps) => {
      const Records = wakeUps.map((each, index) => sqsRecord(each?.MessageBody ?? "", each?.MessageGroupId, index));
      const { batchItemFailures } = await functions.deliver({ Records });
      return batchItemFailures.map(({ itemIdentifier }) => Records.findIndex((r) => r.messageId === itemIdentifier));
    },
  };
}

/** A record as the event source mapping hands it over, no more of it than `deliver` may rely on. */
export function sqsRecord(body: string, MessageGroupId = "none", index = 0): SQSRecord {
  return {
    messageId: `sqs-${index}`,
    receiptHandle: `receipt-${index}`,
    body,
    attributes: {
      ApproximateReceiveCount: "1",
      SentTimestamp: "0",
      SenderId: "test",
      ApproximateFirstReceiveTimestamp: "0",
      MessageGroupId,
    },
    messageAttributes: {},
    md5OfBody: "",
    eventSource: "aws:sqs",
    eventSourceARN: "",
    awsRegion: "",
  };
}
