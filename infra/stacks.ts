import { type App, Tags, Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks } from "cdk-nag";
import type { Contract } from "../functions/_runtime/contract.ts";
import { readContext } from "./context.ts";
import { DataStack } from "./data_stack.ts";
import { stackName } from "./names.ts";
import { OperationsStack } from "./operations_stack.ts";
import { ToolsStack } from "./tools_stack.ts";

/**
 * Adds the stage's stacks to the app, checked by cdk-nag. What one takes from another only lasts: a tool that is
 * removed is in no other stack's way.
 * @throws {OperatorError} for a wrong value in the context, or a function that can't be bundled
 */
export function addStacks(app: App, contracts: readonly Contract[]) {
  const context = readContext(app.node, contracts);
  const { stage } = context;
  const data = new DataStack(app, stackName(stage, "data"), { context });
  const tools = new ToolsStack(app, stackName(stage, "tools"), { context, contracts, data });
  const operations = new OperationsStack(app, stackName(stage, "operations"), {
    context,
    contracts,
    apiId: tools.apiId,
    tableName: data.table.tableName,
  });
  Tags.of(app).add("application", "switchboard");
  Tags.of(app).add("stage", stage);
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  return { data, tools, operations };
}
