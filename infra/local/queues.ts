import { CreateQueueCommand, SQSClient } from "@aws-sdk/client-sqs";
import { deadLettersOf, queues } from "../queues.ts";
import { localAccount, localClient, localIdentity } from "./client_config.ts";

/**
 * Creates the message queue with its dead-letter queue beside it.
 * @param name ends in `.fifo`; the dead-letter queue is `<name>-dlq.fifo`
 * @returns the message queue's URL
 */
export async function createQueues(endpoint: string, name: string = queues.messages.name): Promise<string> {
  const client = new SQSClient(localClient(endpoint));
  const { messages, deadLetters } = queues;
  const deadLetterName = deadLettersOf(name);
  const create = async (QueueName: string, Attributes: Record<string, string>) => {
    await client.send(new CreateQueueCommand({ QueueName, Attributes: { FifoQueue: "true", ...Attributes } }));
  };
  try {
    await create(deadLetterName, {
      ContentBasedDeduplication: String(deadLetters.contentBasedDeduplication),
      MessageRetentionPeriod: String(deadLetters.retentionS),
    });
    await create(name, {
      ContentBasedDeduplication: String(messages.contentBasedDeduplication),
      MessageRetentionPeriod: String(messages.retentionS),
      VisibilityTimeout: String(messages.visibilityTimeoutS),
      RedrivePolicy: JSON.stringify({
        deadLetterTargetArn: queueArn(deadLetterName),
        maxReceiveCount: messages.maxReceiveCount,
      }),
    });
  } finally {
    client.destroy();
  }
  // Not the URL that the server gives back: its host name, a subdomain of localhost, doesn't resolve everywhere.
  return `${endpoint}/${localAccount}/${name}`;
}

export const queueArn = (name: string) => `arn:aws:sqs:${localIdentity.region}:${localAccount}:${name}`;
