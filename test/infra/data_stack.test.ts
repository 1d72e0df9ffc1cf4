import { Match } from "aws-cdk-lib/assertions";
import { describe, expect, test } from "vitest";
import { deliverTimeoutS, queues } from "../../infra/queues.ts";
import { table } from "../../infra/table.ts";
import { resourcesOf, type Statement, synthesized } from "./synthesized.ts";

const fourteenDaysS = 1_209_600;
const { data } = synthesized();

describe("the table", () => {
  test("has the keys, index and TTL of the local one, on demand, with point-in-time recovery, and can't be deleted", () => {
    data.hasResource("AWS::DynamoDB::Table", {
      DeletionPolicy: "RetainExceptOnCreate",
      UpdateReplacePolicy: "Retain",
      Properties: {
        BillingMode: "PAY_PER_REQUEST",
        KeySchema: [
          { AttributeName: table.partitionKey, KeyType: "HASH" },
          { AttributeName: table.sortKey, KeyType: "RANGE" },
        ],
        GlobalSecondaryIndexes: [
          {
            IndexName: table.index.name,
            KeySchema: [
              { AttributeName: table.index.partitionKey, KeyType: "HASH" },
              { AttributeName: table.index.sortKey, KeyType: "RANGE" },
            ],
            Projection: { ProjectionType: "KEYS_ONLY" },
          },
        ],
        TimeToLiveSpecification: { AttributeName: table.ttlAttribute, Enabled: true },
        DeletionProtectionEnabled: true,
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      },
    });
  });
});

describe("the queues", () => {
  const all = resourcesOf(data, "AWS::SQS::Queue").map(([, { Properties }]) => Properties);

  test("are FIFO by name and property, with high throughput per group and no dedup by content", () => {
    const found = all.filter(({ FifoQueue }) => FifoQueue);
    expect(found.map(({ QueueName }) => QueueName).sort()).toEqual([
      "switchboard-test-messages-dlq.fifo",
      "switchboard-test-messages.fifo",
    ]);
    for (const queue of found) {
      expect(queue).toMatchObject({
        FifoQueue: true,
        DeduplicationScope: "messageGroup",
        FifoThroughputLimit: "perMessageGroupId",
        ContentBasedDeduplication: false,
        SqsManagedSseEnabled: true,
        MessageRetentionPeriod: fourteenDaysS,
      });
    }
  });

  test("and a standard one, for runs of schedules that are lost, which keeps them as long as SQS can", () => {
    expect(all.filter(({ FifoQueue }) => !FifoQueue)).toMatchObject([
      {
        QueueName: "switchboard-test-schedules-dlq",
        MessageRetentionPeriod: fourteenDaysS,
        SqsManagedSseEnabled: true,
      },
    ]);
  });

  test("keep a wake-up hidden six times as long as deliver may run, and give it up to the dead-letter queue only after very many receives", () => {
    expect(queues.messages.visibilityTimeoutS).toBeGreaterThanOrEqual(6 * deliverTimeoutS);
    const [[deadLettersId] = []] = resourcesOf(data, "AWS::SQS::Queue").filter(([id]) => id.includes("DeadLetters"));
    data.hasResourceProperties("AWS::SQS::Queue", {
      QueueName: "switchboard-test-messages.fifo",
      VisibilityTimeout: queues.messages.visibilityTimeoutS,
      RedrivePolicy: { maxReceiveCount: 1000, deadLetterTargetArn: { "Fn::GetAtt": [deadLettersId, "Arn"] } },
    });
  });
});

test("the root secret is made by Secrets Manager: no template holds one", () => {
  data.hasResource("AWS::SecretsManager::Secret", {
    DeletionPolicy: "RetainExceptOnCreate",
    Properties: {
      GenerateSecretString: { PasswordLength: 64, ExcludePunctuation: true },
      SecretString: Match.absent(),
    },
  });
});

test("queues and bucket refuse what does not come over TLS", () => {
  const policies = [...resourcesOf(data, "AWS::SQS::QueuePolicy"), ...resourcesOf(data, "AWS::S3::BucketPolicy")];
  expect(policies).toHaveLength(4);
  for (const [, { Properties }] of policies) {
    expect(Properties).toMatchObject({
      PolicyDocument: {
        Statement: [
          { Effect: "Deny", Principal: { AWS: "*" }, Condition: { Bool: { "aws:SecureTransport": "false" } } },
        ],
      },
    });
  }
});

test("everything that holds data is retained once it is there, unless the stage says destroy", () => {
  const holding = /^AWS::(?:DynamoDB|SQS|S3|SecretsManager|KMS)::(Table|Queue|Bucket|Secret|Key)$/;
  const policies = (template: typeof data) =>
    Object.values(template.toJSON().Resources as Record<string, { Type: string; DeletionPolicy?: string }>)
      .filter(({ Type }) => holding.test(Type))
      .map(({ DeletionPolicy }) => DeletionPolicy);
  expect(policies(data)).toEqual(Array(6).fill("RetainExceptOnCreate"));
  const { data: thrownAway } = synthesized({ removalPolicy: "destroy" }, []);
  expect(policies(thrownAway)).toEqual(Array(6).fill("Delete"));
  thrownAway.hasResourceProperties("AWS::DynamoDB::Table", { DeletionProtectionEnabled: false });
});

test("a customer-managed key encrypts table, queues, bucket and secret, and is used only through those services", () => {
  const { data: encrypted } = synthesized({ customerManagedKey: true }, []);
  const [[keyId] = []] = resourcesOf(encrypted, "AWS::KMS::Key");
  const arn = { "Fn::GetAtt": [keyId, "Arn"] };
  encrypted.hasResourceProperties("AWS::KMS::Key", { EnableKeyRotation: true });
  const keyPolicy = resourcesOf(encrypted, "AWS::KMS::Key")[0]?.[1].Properties.KeyPolicy as { Statement: Statement[] };
  expect(JSON.stringify(keyPolicy)).not.toContain('"Service":');
  const open = keyPolicy.Statement.filter(({ Principal }) => (Principal as { AWS?: unknown }).AWS === "*");
  expect(open.map(({ Condition }) => Condition)).toEqual([
    { StringEquals: { "kms:CallerAccount": { Ref: "AWS::AccountId" }, "kms:ViaService": expect.any(Array) } },
  ]);
  encrypted.allResourcesProperties("AWS::SQS::Queue", { KmsMasterKeyId: arn });
  encrypted.hasResourceProperties("AWS::SecretsManager::Secret", { KmsKeyId: arn });
  encrypted.hasResourceProperties("AWS::DynamoDB::Table", {
    SSESpecification: { SSEEnabled: true, SSEType: "KMS", KMSMasterKeyId: arn },
  });
  encrypted.hasResourceProperties("AWS::S3::Bucket", {
    BucketEncryption: {
      ServerSideEncryptionConfiguration: [
        { ServerSideEncryptionByDefault: { SSEAlgorithm: "aws:kms", KMSMasterKeyID: arn } },
      ],
    },
  });
});
