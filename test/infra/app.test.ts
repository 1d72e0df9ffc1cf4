import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { App } from "aws-cdk-lib";
import { AwsSolutionsChecks } from "cdk-nag";
import { afterAll, describe, expect, test, vi } from "vitest";
import { contracts } from "../../functions/tools.ts";
import { readCdkContext } from "../../infra/cdk_json.ts";
import { readContext } from "../../infra/context.ts";
import { addStacks } from "../../infra/stacks.ts";
import { contextWith, root } from "./synthesized.ts";

vi.setConfig({ testTimeout: 300_000 });

const folder = mkdtempSync(join(tmpdir(), "switchboard-app-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs the app as the CDK CLI does. */
function runApp(context: unknown, repository = root) {
  const env = { ...process.env, CDK_OUTDIR: join(folder, "cdk.out"), CDK_CONTEXT_JSON: JSON.stringify(context) };
  const { status, stderr } = spawnSync(process.execPath, ["infra/app.ts"], { cwd: repository, env, encoding: "utf8" });
  const template = (stack: string) => readFileSync(join(folder, "cdk.out", `${stack}.template.json`), "utf8");
  return { status, stderr, template };
}

describe("a wrong choice in cdk.json is refused with one message that names it", () => {
  const build = (context: Record<string, unknown>) => () => addStacks(new App({ context }), []);

  test.each<[unknown, string]>([
    [{ logRetentionDay: 30 }, 'stages.test: there is no choice "logRetentionDay". Did you mean logRetentionDays?'],
    [{ logRetentionDays: 31 }, "stages.test.logRetentionDays: "],
    [{ removalPolicy: "keep" }, "stages.test.removalPolicy: "],
    [{ alarmEmail: "ops" }, "stages.test.alarmEmail: "],
    [{ corsOrigins: ["example.com/"] }, "stages.test.corsOrigins.0: "],
    [{ deliveries: { maximumConcurrency: 1 } }, "stages.test.deliveries.maximumConcurrency: "],
    [{ reservedConcurrency: { delivering: 10 } }, "Lower the one or raise the other."],
    [{ budgets: { callsPerSession: "500" } }, "stages.test.budgets.callsPerSession: "],
    [{ throttle: { burts: 5 } }, 'stages.test.throttle: there is no choice "burts". Did you mean burst?'],
    [{ budgets: { size: 5 } }, 'there is no choice "size". There are callsPerSession, callsPerPairMinute, '],
    [{ corsOrigins: ["https://*.example.com"] }, "stages.test.corsOrigins.0: "],
    [null, "stages.test: "],
  ])("%j", (choices, message) => {
    expect(build(contextWith(choices))).toThrow(message);
  });

  test.each([
    ["assign_agent_wrok", '"assign_agent_wrok" is no tool. Did you mean assign_agent_work?'],
    ["get_agent_status", '"get_agent_status" changes nothing that could be held back'],
    ["decide_approval", "stages.test.approvals.tools: "],
  ])("%s as a tool that a person must approve", (name, message) => {
    const context = contextWith({ approvals: { tools: [name] } });
    expect(() => readContext(new App({ context }).node, contracts)).toThrow(message);
  });

  test("an unknown stage, with the nearest", () => {
    expect(build({ ...contextWith({}), stage: "tst" })).toThrow(
      'There is no stage "tst" in cdk.json; it has test. Did you mean test?',
    );
  });

  test("no stage, with those that there are", () => {
    const message = "Choose a stage of cdk.json with -c stage=NAME or context.stage; it has test.";
    expect(build({ ...contextWith({}), stage: undefined })).toThrow(message);
    expect(build({ stage: "test" })).toThrow("context.stages must be an object");
    expect(build({ stage: "test", stages: {} })).toThrow('There is no stage "test" in cdk.json; it has none.');
  });

  test("a stage's choice that stands beside the stages, as -c puts it there", () => {
    expect(build({ ...contextWith({}), alarmEmail: "ops@example.com" })).toThrow(
      `"alarmEmail" is a stage's choice: state it in cdk.json, in context.stages.test.`,
    );
  });

  test("and nothing else is printed", () => {
    const { status, stderr } = runApp(contextWith({ logRetentionDays: "30" }));
    expect(status).toBe(1);
    expect(stderr.trim().split("\n")).toEqual([
      "cdk.json has wrong values:",
      expect.stringMatching(/^ {2}stages\.test\.logRetentionDays: /),
    ]);
  });
});

test("what is left out of a choice keeps its default", () => {
  const { throttle, deliveries } = readContext(
    new App({ context: contextWith({ throttle: { burst: 20 }, deliveries: {} }) }).node,
    contracts,
  );
  expect(throttle).toEqual({ ratePerSecond: 100, burst: 20 });
  expect(deliveries).toEqual({ maximumConcurrency: 50 });
});

test.each([
  ["as it is by default", {}],
  [
    "with everything switched on",
    {
      customerManagedKey: true,
      alarmEmail: "ops@example.com",
      corsOrigins: ["https://app.example.com"],
      reservedConcurrency: { waiting: 10, replying: 10, delivering: 50 },
    },
  ],
  ["that is thrown away", { removalPolicy: "destroy" }],
])("cdk-nag finds nothing in a stage %s", (_, choices) => {
  const app = new App({ context: contextWith(choices) });
  addStacks(app, contracts);
  const { violations } = new AwsSolutionsChecks(app).validateScope(app);
  expect(violations).toEqual([]);
});

describe("a copy of the repository with a new tool", () => {
  const copy = join(folder, "copy");
  for (const part of ["functions", "infra", "cdk.json", "package.json"]) {
    cpSync(join(root, part), join(copy, part), { recursive: true });
  }
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  const change = (file: string, edit: (text: string) => string) =>
    writeFileSync(join(copy, file), edit(readFileSync(join(copy, file), "utf8")));
  cpSync(join(copy, "functions/get_agent_status"), join(copy, "functions/ask_agent_status"), { recursive: true });
  change("functions/ask_agent_status/contract.ts", (text) => text.replaceAll("get_agent_status", "ask_agent_status"));
  change("functions/tools.ts", (text) =>
    text
      .replace(/^/, 'import { contract as askAgentStatus } from "./ask_agent_status/contract.ts";\n')
      .replace("contracts = [", "contracts = [\n  askAgentStatus,"),
  );
  const context = readCdkContext();

  test("deploys it without a change to infra", () => {
    const { status, template } = runApp(context, copy);
    expect(status).toBe(0);
    expect(template("switchboard-prod-tools")).toContain('"switchboard-prod-ask_agent_status"');
    expect(template("switchboard-prod-tools")).toContain('"POST /v1/tools/ask_agent_status"');
    expect(template("switchboard-prod-operations")).toContain('"switchboard-prod-errors-ask_agent_status"');
  });

  test("that can't be bundled says which file is wrong, and nothing else", () => {
    change("functions/ask_agent_status/handler.ts", (text) => `import "./missing.ts";\n${text}`);
    const { status, stderr } = runApp(context, copy);
    expect(status).toBe(1);
    expect(stderr.trim().split("\n")).toEqual([
      "functions/ask_agent_status/handler.ts can't be bundled:",
      '  functions/ask_agent_status/handler.ts:1: Could not resolve "./missing.ts"',
    ]);
  });
});
