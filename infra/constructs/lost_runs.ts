import { Duration, Validations } from "aws-cdk-lib";
import type { IKey } from "aws-cdk-lib/aws-kms";
import { Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";
import type { Context } from "../context.ts";
import { queueName } from "../names.ts";
import { queues } from "../queues.ts";
import { removalPolicyOf } from "./switchboard_function.ts";

/** The dead-letter queue of the schedules: what neither EventBridge Scheduler nor Lambda could deliver. */
export class LostRuns extends Queue {
  constructor(scope: Construct, id: string, { context, key }: { context: Context; key: IKey | undefined }) {
    const { name, retentionS } = queues.lostRuns;
    super(scope, id, {
      queueName: queueName(context.stage, name),
      retentionPeriod: Duration.seconds(retentionS),
      enforceSSL: true,
      removalPolicy: removalPolicyOf(context),
      ...(key
        ? { encryption: QueueEncryption.KMS, encryptionMasterKey: key }
        : { encryption: QueueEncryption.SQS_MANAGED }),
    });
    Validations.of(this).acknowledge({
      id: "AwsSolutions-SQS3",
      reason: "It is a dead-letter queue itself: of EventBridge Scheduler's triggers and of run_schedule.",
    });
  }
}
