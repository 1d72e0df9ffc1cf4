import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
export const root = join(import.meta.dirname, "../..");
const requirements = join(import.meta.dirname, "requirements.txt");

/**
 * The folder of the pinned Python programs (ministack, cfn-lint), installed into a virtual environment below
 * `.cache` the first time. Needs Python 3.10 or newer.
 */
export async function pythonTools(): Promise<string> {
  const version = createHash("sha256").update(readFileSync(requirements)).digest("hex").slice(0, 12);
  const folder = join(root, ".cache", `python-${version}`);
  const bin = join(folder, "bin");
  const complete = join(folder, "complete");
  if (existsSync(complete)) return bin;
  rmSync(folder, { recursive: true, force: true });
  await run("python3", ["-m", "venv", folder]);
  await run(join(bin, "pip"), ["install", "--quiet", "--disable-pip-version-check", "--requirement", requirements]);
  writeFileSync(complete, "");
  return bin;
}
