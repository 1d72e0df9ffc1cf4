import { App, Tags, Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks } from "cdk-nag";
import { contracts } from "../functions/tools.ts";
import { fail } from "./arguments.ts";
import { readContext } from "./context.ts";
import { DataStack } from "./data_stack.ts";
import { stackName } from "./names.ts";
import { ToolsStack } from "./tools_stack.ts";

/** The CDK app: `npx cdk synth`, `npx cdk deploy --all [-c stage=NAME]`. */
function build(): App {
  const app = new App();
  const context = readContext(app.node);
  const { stage } = context;
  const data = new DataStack(app, stackName(stage, "data"), { context });
  new ToolsStack(app, stackName(stage, "tools"), { context, contracts, data });
  Tags.of(app).add("application", "switchboard");
  Tags.of(app).add("stage", stage);
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  return app;
}

try {
  build().synth();
} catch (error) {
  fail(error, "");
}
