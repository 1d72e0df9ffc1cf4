import { Duration, Stack } from "aws-cdk-lib";
import { PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import { Schedule, ScheduleExpression, ScheduleGroup, ScheduleTargetInput } from "aws-cdk-lib/aws-scheduler";
import { LambdaInvoke } from "aws-cdk-lib/aws-scheduler-targets";
import { Construct } from "constructs";
import type { Context } from "../context.ts";
import { prefixOf } from "../names.ts";

/** Runs a function every minute, by a role that may invoke it and that only this stage's schedules can take. */
export class EveryMinute extends Construct {
  constructor(scope: Construct, id: string, { context, target }: { context: Context; target: IFunction }) {
    super(scope, id);
    const group = new ScheduleGroup(this, "Group", { scheduleGroupName: prefixOf(context.stage) });
    const role = new Role(this, "Role", {
      assumedBy: new ServicePrincipal("scheduler.amazonaws.com", {
        // Against the confused deputy: another account's schedule can't borrow this role (Scheduler, User Guide).
        conditions: { StringEquals: { "aws:SourceAccount": Stack.of(this).account } },
      }),
    });
    role.addToPolicy(new PolicyStatement({ actions: ["lambda:InvokeFunction"], resources: [target.functionArn] }));
    // Scheduler hands the event over, and Lambda would try a run that fails twice again: the next one is a minute away.
    target.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: Duration.minutes(1) });
    new Schedule(this, "Schedule", {
      scheduleGroup: group,
      schedule: ScheduleExpression.rate(Duration.minutes(1)),
      target: new LambdaInvoke(target, {
        // CDK's own grant would also cover versions and aliases, which there are none of.
        role: role.withoutPolicyUpdates(),
        retryAttempts: 0,
        input: ScheduleTargetInput.fromObject({}),
      }),
    });
  }
}
