import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { startProcess } from "../local/start_process.ts";

declare module "vitest" {
  interface ProvidedContext {
    url: string;
    key: string;
  }
}

/**
 * The system that the acceptance tests run against: the one that SWITCHBOARD_URL and SWITCHBOARD_KEY name
 * (local, emulated or on AWS), or else a local one that is started for them.
 */
export default async function setup({ provide }: TestProject): Promise<(() => Promise<void>) | undefined> {
  const { SWITCHBOARD_URL, SWITCHBOARD_KEY } = process.env;
  if (SWITCHBOARD_URL && !SWITCHBOARD_KEY) {
    throw new Error("Set SWITCHBOARD_KEY too: a key with every permission at SWITCHBOARD_URL.");
  }
  const system = SWITCHBOARD_URL ? undefined : await startProcess();
  // What an operator has done at the one that is named.
  if (system) syncSeeds(system.port);
  provide("url", (SWITCHBOARD_URL || String(system?.url)).replace(/\/$/, ""));
  provide("key", system?.key ?? String(SWITCHBOARD_KEY));
  return system?.stop;
}

function syncSeeds(port: number): void {
  const root = join(import.meta.dirname, "../..");
  const args = ["infra/repo.ts", "sync", "test/seeds", "--id", "seeds", "--port", String(port)];
  execFileSync(process.execPath, args, { cwd: root, stdio: "pipe" });
}
