import { join } from "node:path";
import { App } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import type { Contract } from "../../functions/_runtime/contract.ts";
import { contracts } from "../../functions/tools.ts";
import { readCdkContext } from "../../infra/cdk_json.ts";
import { addStacks } from "../../infra/stacks.ts";

export const root = join(import.meta.dirname, "../..");

/** cdk.json's context with one stage `test` of the given choices. */
export function contextWith(choices: unknown): Record<string, unknown> {
  return { ...readCdkContext(), stage: "test", stages: { test: choices } };
}

/** The templates of a stage with the given choices of cdk.json. */
export function synthesized(choices: unknown = {}, tools: readonly Contract[] = contracts) {
  const { data, tools: toolsStack, operations } = addStacks(new App({ context: contextWith(choices) }), tools);
  return {
    data: Template.fromStack(data),
    tools: Template.fromStack(toolsStack),
    operations: Template.fromStack(operations),
  };
}

export interface Resource {
  Type: string;
  Properties: Record<string, unknown>;
  DeletionPolicy?: string;
  DependsOn?: string[];
}

/** The resources of a type, by logical id. */
export const resourcesOf = (template: Template, type: string) =>
  Object.entries(template.findResources(type)) as [id: string, resource: Resource][];

interface FunctionProperties {
  FunctionName: string;
  Role: { "Fn::GetAtt": [string, string] };
  Timeout: number;
  MemorySize: number;
  Environment: { Variables: Record<string, unknown> };
  LoggingConfig: { LogGroup: { Ref: string }; LogFormat: string };
  ReservedConcurrentExecutions?: number;
  [more: string]: unknown;
}

/** The functions of stage `test`, by their name within the stage. */
export function functionsOf(template: Template): Map<string, FunctionProperties> {
  return new Map(
    resourcesOf(template, "AWS::Lambda::Function").map(([, { Properties }]) => {
      const properties = Properties as FunctionProperties;
      return [properties.FunctionName.replace("switchboard-test-", ""), properties];
    }),
  );
}

export interface Statement {
  Effect: string;
  Action: string | string[];
  Resource: unknown;
  Condition?: Record<string, Record<string, unknown>>;
  Principal?: unknown;
}

/** What a role is allowed, over all its policies. */
export function statementsOfRole(template: Template, roleId: string): Statement[] {
  return resourcesOf(template, "AWS::IAM::Policy")
    .filter(([, { Properties }]) => (Properties.Roles as { Ref: string }[]).some(({ Ref }) => Ref === roleId))
    .flatMap(([, { Properties }]) => (Properties.PolicyDocument as { Statement: Statement[] }).Statement);
}

export const actionsOf = ({ Action }: Statement) => [Action].flat();
