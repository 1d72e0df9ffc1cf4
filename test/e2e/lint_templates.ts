/*
 * Synthesizes each kind of stage that cdk.json allows, without credentials, and checks every template with
 * cfn-lint: `npm run lint:templates`.
 */
import { execFileSync } from "node:child_process";
import { globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readCdkContext } from "../../infra/cdk_json.ts";
import { pythonTools, root } from "./python_tools.ts";

const everything = {
  customerManagedKey: true,
  alarmEmail: "ops@example.com",
  corsOrigins: ["https://app.example.com"],
  budgets: { callsPerSession: 100, callsPerPairMinute: 10, deliveryAttempts: 3, retentionDays: 60 },
  reservedConcurrency: { waiting: 10, replying: 10, delivering: 50 },
};
const stages = { plain: {}, everything };

/** CDK orders a function after its role's policy by `DependsOn`, beside the reference to the role (W3005). */
const expected = ["--ignore-checks", "W3005"];

const folder = mkdtempSync(join(tmpdir(), "switchboard-templates-"));
try {
  const bin = await pythonTools();
  const context = readCdkContext();
  for (const stage of Object.keys(stages)) {
    const env = {
      ...process.env,
      CDK_OUTDIR: join(folder, stage),
      CDK_CONTEXT_JSON: JSON.stringify({ ...context, stage, stages }),
    };
    execFileSync(process.execPath, ["infra/app.ts"], { cwd: root, env, stdio: "inherit" });
  }
  const templates = globSync(join(folder, "*/*.template.json"));
  execFileSync(join(bin, "cfn-lint"), [...expected, "--", ...templates], { stdio: "inherit" });
  console.log(`cfn-lint: nothing wrong in ${templates.length} templates.`);
} finally {
  rmSync(folder, { recursive: true });
}
