import { Stack } from "aws-cdk-lib";
import { AnyPrincipal, PolicyStatement } from "aws-cdk-lib/aws-iam";
import { Key } from "aws-cdk-lib/aws-kms";
import type { Construct } from "constructs";
import type { Context } from "../context.ts";
import { prefixOf } from "../names.ts";
import { removalPolicyOf } from "./switchboard_function.ts";

/**
 * The customer-managed key, rotated each year. As with AWS's own keys, whoever may use the table, queue, bucket
 * or secret may use the key through that service, so that no function needs a grant on it.
 */
export class StageKey extends Key {
  constructor(scope: Construct, id: string, context: Context) {
    super(scope, id, {
      alias: prefixOf(context.stage),
      description: `Switchboard ${context.stage}: table, queues, bucket and root secret`,
      enableKeyRotation: true,
      removalPolicy: removalPolicyOf(context),
    });
    const { account, region } = Stack.of(this);
    const services = ["dynamodb", "sqs", "s3", "secretsmanager"].map((service) => `${service}.${region}.amazonaws.com`);
    this.addToResourcePolicy(
      new PolicyStatement({
        principals: [new AnyPrincipal()],
        actions: [
          "kms:Encrypt",
          "kms:Decrypt",
          "kms:ReEncryptFrom",
          "kms:ReEncryptTo",
          "kms:GenerateDataKey",
          "kms:GenerateDataKeyWithoutPlaintext",
          "kms:DescribeKey",
          "kms:CreateGrant",
        ],
        resources: ["*"],
        conditions: { StringEquals: { "kms:CallerAccount": account, "kms:ViaService": services } },
      }),
    );
  }
}
