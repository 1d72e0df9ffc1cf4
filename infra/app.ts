import { App } from "aws-cdk-lib";
import { contracts } from "../functions/tools.ts";
import { fail } from "./arguments.ts";
import { addStacks } from "./stacks.ts";

/* The CDK app, which cdk.json names: `npx cdk synth`, `npx cdk deploy --all [-c stage=NAME]`. */
try {
  const app = new App();
  addStacks(app, contracts);
  app.synth();
} catch (error) {
  fail(error, "");
}
