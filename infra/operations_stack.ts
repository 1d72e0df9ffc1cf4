import { CfnOutput, Stack, type StackProps } from "aws-cdk-lib";
import { ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Topic } from "aws-cdk-lib/aws-sns";
import { EmailSubscription } from "aws-cdk-lib/aws-sns-subscriptions";
import type { Construct } from "constructs";
import type { Contract } from "../functions/_runtime/contract.ts";
import { Alarms } from "./constructs/alarms.ts";
import { StageDashboard } from "./constructs/stage_dashboard.ts";
import type { Context } from "./context.ts";
import { prefixOf, workers } from "./names.ts";

interface OperationsStackProps extends StackProps {
  context: Context;
  contracts: readonly Contract[];
  apiId: string;
  tableName: string;
}

/** What operators watch: alarms that go to a topic, and a dashboard. */
export class OperationsStack extends Stack {
  constructor(scope: Construct, id: string, { context, contracts, apiId, tableName, ...props }: OperationsStackProps) {
    super(scope, id, props);
    const functions = [...contracts.map(({ name }) => name), ...workers];

    const topic = new Topic(this, "AlarmTopic", { topicName: `${prefixOf(context.stage)}-alarms`, enforceSSL: true });
    // A policy of its own replaces the default one, by which alarms could publish.
    topic.grantPublish(
      new ServicePrincipal("cloudwatch.amazonaws.com", {
        conditions: { StringEquals: { "aws:SourceAccount": this.account } },
      }),
    );
    if (context.alarmEmail !== undefined) topic.addSubscription(new EmailSubscription(context.alarmEmail));
    new CfnOutput(this, "AlarmTopicArn", { value: topic.topicArn });

    new Alarms(this, "Alarms", { context, apiId, functions, topic });
    new StageDashboard(this, "Dashboard", { context, apiId, tableName, functions });
  }
}
