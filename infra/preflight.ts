import { parseArgs } from "node:util";
import { GetAccountSettingsCommand, LambdaClient } from "@aws-sdk/client-lambda";
import { App } from "aws-cdk-lib";
import type { Contract } from "../functions/_runtime/contract.ts";
import { contracts } from "../functions/tools.ts";
import { fail, OperatorError, parsing } from "./arguments.ts";
import { readCdkContext } from "./cdk_json.ts";
import { reservedFor } from "./constructs/tool_function.ts";
import { type Context, readContext } from "./context.ts";

const usage = `Usage: npm run preflight -- [--stage NAME]

Compares what a stage wants of Lambda with the account's quota, before it is deployed.
`;

/** Lambda keeps this much unreserved, always. */
const unreservedAtLeast = 100;

async function main(): Promise<void> {
  const { values } = parsing(() =>
    parseArgs({ options: { stage: { type: "string" }, help: { type: "boolean", default: false } } }),
  );
  if (values.help) return void console.log(usage);
  const known = readCdkContext();
  const { node } = new App({ context: { ...known, ...(values.stage && { stage: values.stage }) } });
  const context = readContext(node, contracts);
  const { quota, unreserved } = await concurrencyOfAccount();
  for (const problem of problems(context, quota)) throw new OperatorError(problem);
  console.log(
    `Stage ${context.stage} fits into the account's ${quota} concurrent executions; ` +
      `functions that are deployed now have ${quota - unreserved} of them reserved.`,
  );
}

async function concurrencyOfAccount(): Promise<{ quota: number; unreserved: number }> {
  const client = new LambdaClient({});
  try {
    const { AccountLimit } = await client.send(new GetAccountSettingsCommand({}));
    const quota = AccountLimit?.ConcurrentExecutions ?? 0;
    return { quota, unreserved: AccountLimit?.UnreservedConcurrentExecutions ?? quota };
  } catch (error) {
    const { message } = error as Error;
    throw new OperatorError(
      `The account's Lambda settings can't be read: ${message}. Check AWS_PROFILE and AWS_REGION.`,
    );
  } finally {
    client.destroy();
  }
}

function* problems(context: Context, quota: number): Generator<string> {
  const { delivering, relaying } = context.reservedConcurrency;
  const ofTools = contracts.map((contract) => reservedFor(contract, context) ?? 0);
  const reserved = ofTools.reduce((sum, each) => sum + each, (delivering ?? 0) + (relaying ?? 0));
  if (reserved > 0 && quota - reserved < unreservedAtLeast) {
    yield `Stage ${context.stage} reserves ${reserved} concurrent executions; the account has ${quota}, of which Lambda keeps ` +
      `${unreservedAtLeast} unreserved. Lower reservedConcurrency in cdk.json, or ask AWS for a higher quota.`;
  }
  const waiters = (contracts as readonly Contract[]).filter(({ defaultWaitS }) => defaultWaitS !== undefined);
  const waiting = waiters.length * (context.reservedConcurrency.waiting ?? 0);
  if (relaying !== undefined && relaying <= waiting) {
    yield `Waiting calls may take all of the ${relaying} executions of mcp (the ${waiters.length} tools that wait may have ` +
      `${waiting}), so that nobody could reply by MCP. Raise reservedConcurrency.relaying in cdk.json.`;
  }
  const { maximumConcurrency } = context.deliveries;
  if (delivering === undefined && maximumConcurrency >= quota) {
    yield `Deliveries may take all of the account's ${quota} concurrent executions (deliveries.maximumConcurrency is ` +
      `${maximumConcurrency}), so that nobody could call or reply. Lower it in cdk.json, or ask AWS for a higher quota.`;
  }
}

main().catch((error: unknown) => fail(error, usage));
