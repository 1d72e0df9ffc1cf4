import { CfnOutput } from "aws-cdk-lib";
import { AttributeType, BillingMode, ProjectionType, Table, TableEncryption } from "aws-cdk-lib/aws-dynamodb";
import type { IKey } from "aws-cdk-lib/aws-kms";
import type { Construct } from "constructs";
import type { Context } from "../context.ts";
import { outputs } from "../names.ts";
import { table } from "../table.ts";
import { removalPolicyOf } from "./switchboard_function.ts";

const text = (name: string) => ({ name, type: AttributeType.STRING });

/**
 * The single table, by the facts that the local engine uses too: on demand, with point-in-time recovery of 35
 * days; unless the stage is a throw-away one it can't be deleted.
 */
export class StateTable extends Table {
  constructor(scope: Construct, id: string, { context, key }: { context: Context; key: IKey | undefined }) {
    const { partitionKey, sortKey, index, ttlAttribute } = table;
    super(scope, id, {
      partitionKey: text(partitionKey),
      sortKey: text(sortKey),
      billingMode: BillingMode.PAY_PER_REQUEST,
      timeToLiveAttribute: ttlAttribute,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: context.removalPolicy === "retain",
      removalPolicy: removalPolicyOf(context),
      ...(key
        ? { encryption: TableEncryption.CUSTOMER_MANAGED, encryptionKey: key }
        : { encryption: TableEncryption.DEFAULT }),
    });
    this.addGlobalSecondaryIndex({
      indexName: index.name,
      partitionKey: text(index.partitionKey),
      sortKey: text(index.sortKey),
      projectionType: ProjectionType[index.projection],
    });
    new CfnOutput(scope, outputs.tableName, { value: this.tableName });
  }
}
