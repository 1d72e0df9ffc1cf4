import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fail, OperatorError } from "../infra/arguments.ts";
import { freePort } from "../infra/local/loopback.ts";

/*
 * `npm run test:dynamodb-local`: every suite on Amazon DynamoDB Local, the reference engine. Its licence asks for
 * an AWS account, so nothing here installs it: it runs from the jar that DYNAMODB_LOCAL_JAR names, or else from
 * Amazon's container.
 */

const usage = "Usage: DYNAMODB_LOCAL_JAR=…/DynamoDBLocal.jar npm run test:dynamodb-local   (or with Docker running)";
const { DYNAMODB_LOCAL_JAR: jar } = process.env;

function startEngine(port: number): ChildProcess {
  if (jar === undefined) {
    if (spawnSync("docker", ["info"]).status !== 0) {
      throw new OperatorError(`No Docker engine answers here, and DYNAMODB_LOCAL_JAR is not set.\n${usage}`);
    }
    const published = ["-p", `127.0.0.1:${port}:8000`];
    return spawn("docker", ["run", "--rm", ...published, "amazon/dynamodb-local"], { stdio: "inherit" });
  }
  if (!existsSync(jar)) throw new OperatorError(`There is no ${jar} (DYNAMODB_LOCAL_JAR).`);
  const libraries = `-Djava.library.path=${join(dirname(jar), "DynamoDBLocal_lib")}`;
  return spawn("java", [libraries, "-jar", jar, "-inMemory", "-port", String(port)], { stdio: "inherit" });
}

async function main(): Promise<void> {
  const port = await freePort();
  const engine = startEngine(port);
  const env = { ...process.env, DYNAMODB_ENDPOINT: `http://127.0.0.1:${port}` };
  try {
    const tests = spawn("npx", ["vitest", "run", ...process.argv.slice(2)], { stdio: "inherit", env });
    [process.exitCode] = await once(tests, "close");
  } finally {
    engine.kill();
  }
}

main().catch((error: unknown) => fail(error, usage));
