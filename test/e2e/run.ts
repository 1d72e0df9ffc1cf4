/*
 * Deploys the unchanged CDK app by the real CDK CLI to an emulated AWS, runs the acceptance tests through its API
 * Gateway, and the operators' commands on the stage: `npm run e2e`. Options after `--` go to vitest.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { outputs, stackName } from "../../infra/names.ts";
import { type Emulator, startEmulator } from "./emulator.ts";
import { must, run } from "./programs.ts";
import { pythonTools } from "./python_tools.ts";

const stage = "e2e";
const started = Date.now();
const cdkOut = mkdtempSync(join(tmpdir(), "switchboard-cdk-"));

async function timed<T>(what: string, work: Promise<T>): Promise<T> {
  const from = Date.now();
  const result = await work;
  console.log(`e2e: ${what}: ${((Date.now() - from) / 1000).toFixed(1)} s`);
  return result;
}

const cdk = (...args: string[]) => [...args, "--app", cdkOut, "--require-approval", "never"];

/** Deploying without bootstrap must tell an operator what to do. */
async function refusedWithoutBootstrap({ env }: Emulator): Promise<void> {
  const { code, printed } = await run("cdk", cdk("deploy", "--all", "--method=direct"), { env });
  if (code === 0 || !printed.includes("Please run 'cdk bootstrap'")) {
    throw new Error(`Without bootstrap, the CDK CLI should have said so:\n${printed}`);
  }
}

async function deploy({ env, endpoint }: Emulator): Promise<string> {
  await must("cdk", ["bootstrap", "--app", cdkOut], { env });
  const file = join(cdkOut, "outputs.json");
  await must("cdk", cdk("deploy", "--all", "--method=direct", "--outputs-file", file), { env });
  const stacks: Record<string, Record<string, string>> = JSON.parse(readFileSync(file, "utf8"));
  const url = String(stacks[stackName(stage, "tools")]?.[outputs.apiUrl]);
  // https://<api id>.execute-api.…: a name that resolves on AWS, and by path on the emulator.
  const [apiId] = new URL(url).hostname.split(".");
  return `${endpoint}/_aws/execute-api/${apiId}/$default`;
}

/** As an operator makes the first one. */
const firstKey = ({ env }: Emulator) => {
  const everything = "--workspace e2e --scopes all --agents * --repositories *".split(" ");
  return must("node", ["infra/keys.ts", "create", "--stage", stage, ...everything], { env });
};

/** What the acceptance tests read. */
const syncSeeds = ({ env }: Emulator) =>
  must("node", ["infra/repo.ts", "sync", "test/seeds", "--id", "seeds", "--stage", stage, "--workspace", "e2e"], {
    env,
  });

async function main(): Promise<void> {
  const synth = must("cdk", ["synth", "--quiet", "--output", cdkOut, "--context", `stage=${stage}`]);
  const [bin] = await Promise.all([timed("Python tools", pythonTools()), timed("synth", synth)]);
  const emulator = await timed("emulator", startEmulator(bin));
  try {
    await timed("refused without bootstrap", refusedWithoutBootstrap(emulator));
    const SWITCHBOARD_URL = await timed("bootstrap and deploy", deploy(emulator));
    const SWITCHBOARD_KEY = await timed("first key", firstKey(emulator));
    await timed("repository", syncSeeds(emulator));
    // One file after another: the emulator's functions are processes on this machine.
    const projects = ["acceptance", "operators", "inspector"].flatMap((name) => ["--project", name]);
    const args = ["run", ...projects, "--no-file-parallelism", ...process.argv.slice(2)];
    const env = { ...emulator.env, SWITCHBOARD_URL, SWITCHBOARD_KEY, SWITCHBOARD_STAGE: stage };
    await timed("tests", must("vitest", args, { env, show: true }));
  } catch (error) {
    console.error(emulator.log());
    throw error;
  } finally {
    await emulator.stop();
    rmSync(cdkOut, { recursive: true, force: true });
  }
}

main()
  .catch((error: Error) => {
    console.error(error.message);
    process.exitCode = 1;
  })
  .finally(() =>
    console.log(`e2e: ${process.exitCode ? "failed" : "passed"} in ${((Date.now() - started) / 1000).toFixed(1)} s`),
  );
