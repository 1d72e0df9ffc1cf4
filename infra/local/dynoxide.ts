import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { OperatorError } from "../arguments.ts";
import { freePort } from "./loopback.ts";

const startTimeoutMs = 10_000;

/**
 * Runs "$@" as long as our end of standard input is open, which the kernel closes however this process ends:
 * so the engine never outlives it to hold the database, not even after `kill -9`.
 */
const watchdog = `
  exec 3<&0
  "$@" &
  engine=$!
  { read -r _ <&3; kill "$engine"; } 2>/dev/null &
  wait "$engine"`;

/** A running engine. */
export interface Dynoxide {
  endpoint: string;
  stop(): Promise<void>;
}

/**
 * Starts the bundled DynamoDB engine.
 * @param file database file; undefined keeps everything in memory
 * @throws {OperatorError} when the platform has no engine or it doesn't start
 */
export async function startDynoxide(file: string | undefined): Promise<Dynoxide> {
  const binary = enginePath();
  for (let attempt = 1; ; attempt++) {
    const port = await freePort();
    const engine = launch([
      binary,
      "serve",
      "--port",
      String(port),
      ...(file === undefined ? [] : ["--db-path", file]),
    ]);
    const endpoint = `http://127.0.0.1:${port}`;
    if (await answers(endpoint, engine)) return { endpoint, stop: () => stop(engine) };
    await stop(engine);
    // The port may have been taken meanwhile, or an engine that is just ending still holds the file.
    if (attempt === 3)
      throw new OperatorError(`The DynamoDB engine did not start. It said: ${engine.said().trim() || "nothing"}`);
    await sleep(200);
  }
}

function enginePath(): string {
  const name = `@dynoxide/${process.platform}-${process.arch}`;
  try {
    return join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), "dynoxide");
  } catch {
    throw new OperatorError(
      `No DynamoDB engine is bundled for ${process.platform}-${process.arch} (${name} is not installed). ` +
        "Start Amazon DynamoDB Local, for example with `docker run -p 8000:8000 amazon/dynamodb-local`, " +
        "and set DYNAMODB_ENDPOINT=http://127.0.0.1:8000.",
    );
  }
}

interface Engine {
  process: ChildProcess;
  /** The end of what it printed, for an error message. */
  said(): string;
}

/** In a process group of its own: Ctrl-C in a terminal must not end the engine before its users have finished. */
function launch(command: readonly string[]): Engine {
  const child = spawn("sh", ["-c", watchdog, "sh", ...command], { stdio: ["pipe", "pipe", "pipe"], detached: true });
  let output = "";
  const keep = (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-2000);
  };
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  child.on("error", keep);
  return { process: child, said: () => output };
}

const isRunning = ({ process: { exitCode, signalCode, pid } }: Engine) =>
  pid !== undefined && exitCode === null && signalCode === null;

async function answers(endpoint: string, engine: Engine): Promise<boolean> {
  const deadline = Date.now() + startTimeoutMs;
  while (isRunning(engine) && Date.now() < deadline) {
    // Any HTTP answer at all will do; until there is one, the connection is refused.
    if (await fetch(endpoint).then(Boolean, () => false)) return isRunning(engine);
    await sleep(5);
  }
  return false;
}

async function stop(engine: Engine): Promise<void> {
  if (!isRunning(engine)) return;
  const ended = once(engine.process, "exit");
  engine.process.stdin?.end();
  await ended;
}
