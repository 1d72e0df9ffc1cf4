import { CloudFormationClient, DescribeStacksCommand } from "@aws-sdk/client-cloudformation";
import { OperatorError } from "./arguments.ts";
import { addEnvironment, applyEnvironment } from "./local/environment.ts";
import { theSystem } from "./local/registry.ts";
import { outputs, stackName } from "./names.ts";

/** Which system an operator means: a deployed stage, or a local one by its port. */
export interface Place {
  stage: string | undefined;
  port: number | undefined;
}

/**
 * Sets the environment with which `functions/` reaches a system's table and queue. Import from there only
 * afterwards: its clients read the environment at load. A deployed stage is reached with the operator's own AWS
 * credentials and region.
 * @returns those settings of `functions/_runtime/env.ts`
 * @throws {OperatorError} when there is no such system
 */
export async function connect({ stage, port }: Place): Promise<Record<string, string>> {
  const env = stage === undefined ? theSystem(port).env : await deployedSettings(stage);
  if (stage === undefined) applyEnvironment(env);
  else addEnvironment(env);
  return env;
}

async function deployedSettings(stage: string): Promise<Record<string, string>> {
  const data = await stackOutputs(stackName(stage, "data"));
  return {
    TABLE_NAME: data(outputs.tableName),
    MESSAGES_QUEUE_URL: data(outputs.queueUrl),
    REPOSITORIES_BUCKET: data(outputs.repositoriesBucket),
    ROOT_SECRET_ID: data(outputs.rootSecretId),
  };
}

/** What a deployed stack says of itself. @throws {OperatorError} when there is none, or it can't be read */
async function stackOutputs(name: string): Promise<(output: string) => string> {
  const found = await describe(name);
  return (output) => {
    const value = found.find(({ OutputKey }) => OutputKey === output)?.OutputValue;
    if (value === undefined) throw new OperatorError(`Stack ${name} has no output ${output}. Deploy it again.`);
    return value;
  };
}

async function describe(name: string) {
  const client = new CloudFormationClient({});
  try {
    const { Stacks = [] } = await client.send(new DescribeStacksCommand({ StackName: name }));
    return Stacks[0]?.Outputs ?? [];
  } catch (error) {
    const { message } = error as Error;
    const reason = message.includes("does not exist") ? "it is not deployed in this account and region" : message;
    throw new OperatorError(`Stack ${name} can't be read: ${reason}. Check AWS_PROFILE and AWS_REGION.`, {
      cause: error,
    });
  } finally {
    client.destroy();
  }
}
