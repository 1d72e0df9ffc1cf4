import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");

/** The system under acceptance test is another one. */
const { SWITCHBOARD_URL: _, SWITCHBOARD_KEY: __, ...withoutTarget } = process.env;

/** A system that runs as an operator runs it: `npm start`. */
export interface LocalProcess {
  url: string;
  key: string;
  port: number;
  /** Everything it has printed. */
  output(): string;
  /** Sends a message to what was preloaded, and resolves with its answer. */
  ask(message: object): Promise<unknown>;
  /** Resolves when it has ended, however that came about. */
  ended: Promise<unknown>;
  /** Kills npm, the system and all that is in its process group, in the middle of whatever they do. */
  kill9(): Promise<void>;
  /** Stops it as a service manager does; resolves when it has ended. */
  stop(): Promise<void>;
}

/**
 * Runs `npm start -- <args>` in a process group of its own and waits until it is ready.
 * @param args without `--port`, a free one is taken
 * @param env set TABLE_NAME for a second start with the same `--data`: with DYNAMODB_ENDPOINT, data is there
 * @param preload a module that is loaded before the system; then Node runs it without npm in between
 * @param project the folder of another copy of the project
 * @throws {Error} with what it printed, when it ends instead
 */
export async function startProcess(
  args: readonly string[] = [],
  env: Record<string, string> = {},
  preload?: string,
  project = root,
): Promise<LocalProcess> {
  const port = args.includes("--port") ? [] : ["--port", "0"];
  const [command, ...start] =
    preload === undefined ? ["npm", "start", "--"] : [process.execPath, "--import", preload, "infra/local/main.ts"];
  const child = spawn(String(command), [...start, ...port, ...args], {
    cwd: project,
    detached: true,
    stdio: preload === undefined ? ["ignore", "pipe", "pipe"] : ["ignore", "pipe", "pipe", "ipc"],
    env: { ...withoutTarget, TABLE_NAME: `test-${randomBytes(8).toString("hex")}`, ...env },
  });
  let printed = "";
  const output = () => printed;
  const ended = once(child, "close");
  const ready = new Promise<{ url: string; key: string }>((resolve) => {
    const read = (chunk: Buffer) => {
      printed += chunk.toString();
      const [, url] = /running at (\S+)\n/.exec(printed) ?? [];
      const [, key] = /^Key.*: (sb_\w+)\n/m.exec(printed) ?? [];
      if (url !== undefined && key !== undefined) resolve({ url, key });
    };
    child.stdout?.on("data", read);
    child.stderr?.on("data", read);
  });
  const failed = ended.then(() => {
    throw new Error(`npm start ended: ${printed}`);
  });
  const { url, key } = await Promise.race([ready, failed]);
  failed.catch(() => {});
  return {
    url,
    key,
    port: Number(new URL(url).port),
    output,
    ask: async (message) => {
      const answered = once(child, "message");
      child.send(message);
      return (await answered)[0];
    },
    ended,
    kill9: () => signal(child, "SIGKILL", ended),
    stop: () => signal(child, "SIGTERM", ended),
  };
}

/** The negative id reaches the whole group: a signal to npm alone would leave its children behind. */
async function signal(child: ChildProcess, name: "SIGKILL" | "SIGTERM", ended: Promise<unknown>): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) process.kill(-Number(child.pid), name);
  await ended;
}
