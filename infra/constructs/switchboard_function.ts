import { Duration, RemovalPolicy, Validations } from "aws-cdk-lib";
import { Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import {
  ApplicationLogLevel,
  Architecture,
  Code,
  Function as LambdaFunction,
  LoggingFormat,
  Runtime,
  SystemLogLevel,
  Tracing,
} from "aws-cdk-lib/aws-lambda";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";
import { bundle } from "../bundle.ts";
import type { Context } from "../context.ts";
import { type Ability, type Reachable, statementsOf } from "../grants.ts";
import { functionName, logGroupName, prefixOf } from "../names.ts";

/** What every function of a stage shares. */
export interface Surroundings {
  context: Context;
  reachable: Reachable;
  /** Settings of `functions/_runtime/env.ts`. Names and numbers, never a secret. */
  settings: Record<string, string>;
}

interface SwitchboardFunctionProps extends Surroundings {
  /** Names the function and its log group within the stage. */
  name: string;
  /** The handler's file, from the repository's root. */
  entry: string;
  abilities: readonly Ability[];
  timeoutS: number;
  memoryMb: number;
  reservedConcurrency?: number | undefined;
}

/**
 * A Lambda function of Switchboard: Node 24 on arm64, bundled, traced, logging JSON to a log group of its own
 * with a retention. Its role allows what `abilities` say, its own log group and X-Ray, and nothing else; the
 * managed policy that CDK attaches by default would allow every log group.
 */
export class SwitchboardFunction extends LambdaFunction {
  constructor(scope: Construct, id: string, props: SwitchboardFunctionProps) {
    const { context, name, abilities, reachable } = props;
    const logGroup = new LogGroup(scope, `${id}Log`, {
      logGroupName: logGroupName(context.stage, name),
      retention: context.logRetentionDays,
      removalPolicy: removalPolicyOf(context),
    });
    const role = new Role(scope, `${id}Role`, { assumedBy: new ServicePrincipal("lambda.amazonaws.com") });
    super(scope, id, {
      functionName: functionName(context.stage, name),
      role,
      logGroup,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      code: Code.fromAsset(bundle(props.entry).folder),
      handler: "index.handler",
      memorySize: props.memoryMb,
      timeout: Duration.seconds(props.timeoutS),
      environment: {
        ...props.settings,
        NODE_OPTIONS: "--enable-source-maps",
        // Read by the logger; Lambda keeps what it writes to the level below.
        POWERTOOLS_SERVICE_NAME: "switchboard",
      },
      ...(props.reservedConcurrency !== undefined && { reservedConcurrentExecutions: props.reservedConcurrency }),
      tracing: Tracing.ACTIVE,
      loggingFormat: LoggingFormat.JSON,
      applicationLogLevelV2: ApplicationLogLevel.INFO,
      // Start and report lines of each invocation would be most of the log; the metrics have their figures.
      systemLogLevelV2: SystemLogLevel.WARN,
    });
    logGroup.grantWrite(role);
    for (const ability of abilities)
      for (const statement of statementsOf(ability, reachable)) role.addToPolicy(statement);
    if (abilities.includes("readRepositories")) {
      Validations.of(role).acknowledge({
        id: `AwsSolutions-IAM5[Resource::${reachable.repositoriesFinding}]`,
        reason: "A snapshot's objects come and go with each sync; serve() decides which repository a key may read.",
      });
    }
    Validations.of(role).acknowledge({
      id: "AwsSolutions-IAM5[Resource::*]",
      reason: "xray:PutTraceSegments and xray:PutTelemetryRecords know no resources (Service Authorization Reference).",
    });
    if (abilities.includes("schedule"))
      Validations.of(role).acknowledge({
        id: `AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:scheduler:<AWS::Region>:<AWS::AccountId>:schedule/${prefixOf(context.stage)}/*]`,
        reason: "Triggers come and go with people's schedules; the group is the stage's own.",
      });
  }
}

/**
 * What becomes of a resource that holds data when its stack lets go of it. A deployment that fails the first time
 * leaves nothing behind all the same: it would be in the next one's way, since names are given.
 */
export const removalPolicyOf = ({ removalPolicy }: Context) =>
  removalPolicy === "retain" ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY;
