import { CfnOutput, Duration } from "aws-cdk-lib";
import type { IKey } from "aws-cdk-lib/aws-kms";
import { DeduplicationScope, FifoThroughputLimit, Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import type { Context } from "../context.ts";
import { outputs, queueName } from "../names.ts";
import { queues } from "../queues.ts";
import { removalPolicyOf } from "./switchboard_function.ts";

/**
 * The FIFO queue of wake-ups with its dead-letter queue, by the facts that the local engine uses too. Groups
 * run in parallel: high throughput needs dedup scope and limit per group (SQS, "high throughput for FIFO").
 */
export class MessageQueue extends Construct {
  readonly messages: Queue;
  readonly deadLetters: Queue;

  constructor(scope: Construct, id: string, { context, key }: { context: Context; key: IKey | undefined }) {
    super(scope, id);
    const common = {
      fifo: true,
      deduplicationScope: DeduplicationScope.MESSAGE_GROUP,
      fifoThroughputLimit: FifoThroughputLimit.PER_MESSAGE_GROUP_ID,
      enforceSSL: true,
      removalPolicy: removalPolicyOf(context),
      ...(key
        ? { encryption: QueueEncryption.KMS, encryptionMasterKey: key }
        : { encryption: QueueEncryption.SQS_MANAGED }),
    };
    const { messages, deadLetters } = queues;
    this.deadLetters = new Queue(this, "DeadLetters", {
      ...common,
      queueName: queueName(context.stage, deadLetters.name),
      contentBasedDeduplication: deadLetters.contentBasedDeduplication,
      retentionPeriod: Duration.seconds(deadLetters.retentionS),
    });
    this.messages = new Queue(this, "Messages", {
      ...common,
      queueName: queueName(context.stage, messages.name),
      contentBasedDeduplication: messages.contentBasedDeduplication,
      retentionPeriod: Duration.seconds(messages.retentionS),
      visibilityTimeout: Duration.seconds(messages.visibilityTimeoutS),
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: messages.maxReceiveCount },
    });
    new CfnOutput(scope, outputs.queueUrl, { value: this.messages.queueUrl });
    new CfnOutput(scope, outputs.deadLettersUrl, { value: this.deadLetters.queueUrl });
  }
}
