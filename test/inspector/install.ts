import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    inspector: string;
  }
}

const files = ["package.json", "package-lock.json"];

/** Installs the pinned MCP Inspector below `.cache` the first time, and provides its folder. */
export default function setup({ provide }: TestProject): void {
  const lock = readFileSync(join(import.meta.dirname, "package-lock.json"));
  const version = createHash("sha256").update(lock).digest("hex").slice(0, 12);
  const folder = join(import.meta.dirname, "../../.cache", `inspector-${version}`);
  const complete = join(folder, "complete");
  if (!existsSync(complete)) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    for (const file of files) copyFileSync(join(import.meta.dirname, file), join(folder, file));
    execFileSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: folder, stdio: "pipe" });
    writeFileSync(complete, "");
  }
  provide("inspector", folder);
}
