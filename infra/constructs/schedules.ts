import { Duration, Stack } from "aws-cdk-lib";
import { PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import { Schedule, ScheduleExpression, ScheduleGroup, ScheduleTargetInput } from "aws-cdk-lib/aws-scheduler";
import { LambdaInvoke } from "aws-cdk-lib/aws-scheduler-targets";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import type { Context } from "../context.ts";
import { prefixOf } from "../names.ts";

/** A role of EventBridge Scheduler that may run one function, and that only this account's schedules can take. */
export class SchedulerRole extends Role {
  constructor(scope: Construct, id: string, functionArn: string) {
    super(scope, id, {
      assumedBy: new ServicePrincipal("scheduler.amazonaws.com", {
        // Against the confused deputy: another account's schedule can't borrow this role (Scheduler, User Guide).
        conditions: { StringEquals: { "aws:SourceAccount": Stack.of(scope).account } },
      }),
    });
    this.addToPolicy(new PolicyStatement({ actions: ["lambda:InvokeFunction"], resources: [functionArn] }));
  }
}

interface SchedulesProps {
  context: Context;
  sweep: IFunction;
  runSchedule: IFunction;
  lostRuns: IQueue;
  /** By which the triggers of people's schedules run `runSchedule`. */
  role: Role;
}

/** Everything that is driven by time: the stage's group, for people's schedules too, and sweep, every minute. */
export class Schedules extends Construct {
  constructor(scope: Construct, id: string, { context, sweep, runSchedule, lostRuns, role }: SchedulesProps) {
    super(scope, id);
    const scheduleGroup = new ScheduleGroup(this, "Group", { scheduleGroupName: prefixOf(context.stage) });
    // Scheduler hands the event over, and Lambda would try a run that fails twice again: the next one is a minute away.
    sweep.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: Duration.minutes(1) });
    new Schedule(this, "Sweep", {
      scheduleGroup,
      schedule: ScheduleExpression.rate(Duration.minutes(1)),
      target: new LambdaInvoke(sweep, {
        // CDK's own grant would also cover versions and aliases, which there are none of.
        role: new SchedulerRole(this, "SweepRole", sweep.functionArn).withoutPolicyUpdates(),
        retryAttempts: 0,
        input: ScheduleTargetInput.fromObject({}),
      }),
    });
    // Scheduler hands a run to Lambda, which runs it asynchronously: what throws is Lambda's to try again.
    runSchedule.configureAsyncInvoke({
      retryAttempts: 2,
      maxEventAge: Duration.hours(1),
      // CDK's own destination would also grant the use of a customer-managed key, which the key allows by itself.
      onFailure: { bind: () => ({ destination: lostRuns.queueArn }) },
    });
    const send = new PolicyStatement({ actions: ["sqs:SendMessage"], resources: [lostRuns.queueArn] });
    runSchedule.addToRolePolicy(send);
    role.addToPolicy(send);
  }
}
