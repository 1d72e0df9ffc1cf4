import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { root } from "./python_tools.ts";

interface Options {
  env?: Record<string, string>;
  /** Let it write to this terminal; its output is then not in the answer. */
  show?: boolean;
}

/** Runs a program of this repository's `node_modules/.bin`; answers what it printed, and `out` apart from its errors. */
export async function run(command: string, args: readonly string[], { env = {}, show = false }: Options = {}) {
  const child = spawn(command, args, {
    cwd: root,
    stdio: ["ignore", show ? "inherit" : "pipe", show ? "inherit" : "pipe"],
    env: { ...process.env, PATH: `${join(root, "node_modules/.bin")}:${process.env.PATH}`, ...env },
  });
  let printed = "";
  let out = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    printed += chunk;
    out += chunk;
  });
  child.stderr?.on("data", (chunk: Buffer) => {
    printed += chunk;
  });
  const [code] = await once(child, "close");
  return { code: Number(code), printed: printed.trim(), out: out.trim() };
}

/** As `run`; answers its output. @throws {Error} with all that it printed, when it fails */
export async function must(...[command, args, options]: Parameters<typeof run>): Promise<string> {
  const { code, printed, out } = await run(command, args, options);
  if (code !== 0) throw new Error(`${command} ${args.join(" ")} failed:\n${printed}`);
  return out;
}
