import { CfnOutput, Duration, Stack, type StackProps, Validations } from "aws-cdk-lib";
import { BlockPublicAccess, Bucket, BucketEncryption, ObjectOwnership } from "aws-cdk-lib/aws-s3";
import { type CfnSecret, Secret } from "aws-cdk-lib/aws-secretsmanager";
import { Topic } from "aws-cdk-lib/aws-sns";
import { EmailSubscription } from "aws-cdk-lib/aws-sns-subscriptions";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";
import { LostRuns } from "./constructs/lost_runs.ts";
import { MessageQueue } from "./constructs/message_queue.ts";
import { StageKey } from "./constructs/stage_key.ts";
import { StateTable } from "./constructs/state_table.ts";
import { removalPolicyOf } from "./constructs/switchboard_function.ts";
import type { Context } from "./context.ts";
import { outputs, prefixOf } from "./names.ts";

/** What outlives every deployment: the table, the queues, the bucket of the repositories, the root secret,
 * and who hears of approvals. */
export class DataStack extends Stack {
  readonly table: StateTable;
  readonly messages: IQueue;
  /** Runs of schedules that could not be delivered. */
  readonly lostRuns: IQueue;
  readonly rootSecretArn: string;
  readonly approvalsTopicArn: string;
  readonly repositories: Bucket;

  constructor(scope: Construct, id: string, { context, ...props }: StackProps & { context: Context }) {
    super(scope, id, { ...props, terminationProtection: context.removalPolicy === "retain" });
    const key = context.customerManagedKey ? new StageKey(this, "Key", context) : undefined;
    const removalPolicy = removalPolicyOf(context);

    this.table = new StateTable(this, "Table", { context, key });
    this.messages = new MessageQueue(this, "Queue", { context, key }).messages;
    this.lostRuns = new LostRuns(this, "LostRuns", { context, key });

    const rootSecret = new Secret(this, "RootSecret", {
      description: "Webhook secrets are derived from it",
      generateSecretString: { passwordLength: 64, excludePunctuation: true },
      removalPolicy,
      ...(key && { encryptionKey: key }),
    });
    Validations.of(rootSecret).acknowledge({
      id: "AwsSolutions-SMG4",
      reason:
        "Every agent's webhook secret is derived from it: rotating it would break them all. Agents' secrets rotate by version (register_agent).",
    });
    // The ARN, as `Ref` would give on AWS; an emulator's `Ref` gives the name, which no policy could state.
    this.rootSecretArn = (rootSecret.node.defaultChild as CfnSecret).attrId;
    new CfnOutput(this, outputs.rootSecretId, { value: this.rootSecretArn });

    // Here, so that who has subscribed stays subscribed.
    const approvals = new Topic(this, "ApprovalsTopic", {
      topicName: `${prefixOf(context.stage)}-approvals`,
      enforceSSL: true,
    });
    approvals.applyRemovalPolicy(removalPolicy);
    if (context.approvals.email !== undefined)
      approvals.addSubscription(new EmailSubscription(context.approvals.email));
    this.approvalsTopicArn = approvals.topicArn;

    this.repositories = new Bucket(this, "Repositories", {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      enforceSSL: true,
      versioned: true,
      lifecycleRules: [
        { abortIncompleteMultipartUploadAfter: Duration.days(7), noncurrentVersionExpiration: Duration.days(30) },
      ],
      removalPolicy,
      ...(key
        ? { encryption: BucketEncryption.KMS, encryptionKey: key, bucketKeyEnabled: true }
        : { encryption: BucketEncryption.S3_MANAGED }),
    });
    Validations.of(this.repositories).acknowledge({
      id: "AwsSolutions-S1",
      reason:
        "Only tools read it, and each of their reads is logged with its key; server access logs would need a bucket of their own.",
    });
    new CfnOutput(this, outputs.repositoriesBucket, { value: this.repositories.bucketName });
  }
}
