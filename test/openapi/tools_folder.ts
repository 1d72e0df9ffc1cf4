import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");
const lock = join(import.meta.dirname, "package-lock.json");

/**
 * The folder where the linter and the client generator are installed, as this folder's lock file says, the first
 * time: they are no dependencies of the project, since the generator needs TypeScript 5.
 */
export function toolsFolder(): string {
  const version = createHash("sha256").update(readFileSync(lock)).digest("hex").slice(0, 12);
  const folder = join(root, ".cache", `openapi-${version}`);
  const complete = join(folder, "complete");
  if (existsSync(complete)) return folder;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const file of ["package.json", "package-lock.json"]) {
    copyFileSync(join(import.meta.dirname, file), join(folder, file));
  }
  execFileSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: folder, stdio: "pipe" });
  writeFileSync(complete, "");
  return folder;
}
