import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { unique } from "../acts.ts";

/** Files of a tree by path. */
export type Files = Record<string, string | Uint8Array>;

/** Makes a directory that holds these files; it is removed when the test, or the file, has ended. */
export function makeTree(files: Files, whenDone: (remove: () => void) => void = onTestFinished): string {
  const dir = mkdtempSync(join(tmpdir(), "switchboard-tree-"));
  whenDone(() => rmSync(dir, { recursive: true, force: true }));
  writeFiles(dir, files);
  return dir;
}

export function writeFiles(dir: string, files: Files): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), content);
  }
}

/** Syncs a directory as the command does, after the system has been started. */
export async function sync(dir: string, id: string, workspace = "local", ref?: string) {
  const { syncRepository } = await import("../../infra/repositories/sync.ts");
  return syncRepository(workspace, id, dir, ref);
}

/** Makes a repository under a new name that holds these files; answers the name. */
export async function makeRepository(files: Files, whenDone?: (remove: () => void) => void): Promise<string> {
  const id = unique("repo");
  await sync(makeTree(files, whenDone), id);
  return id;
}
