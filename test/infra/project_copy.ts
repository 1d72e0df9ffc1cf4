import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { root } from "./synthesized.ts";

/** A copy of this project in a folder of its own. */
export interface ProjectCopy {
  folder: string;
  /** Runs a script of the project, `npx node <args>`. */
  run(...args: string[]): { status: number | null; stdout: string; stderr: string };
  read(file: string): string;
  change(file: string, edit: (text: string) => string): void;
  /** Every file but what is installed or put away, with its content. */
  files(): Record<string, string>;
  remove(): void;
}

const notCopied = ["node_modules", ".git", ".cache", ".local", ".cdk.out", ".data"];

/** @param without whether a path, from the project's root, stays behind */
export function copyProject(without: (path: string) => boolean = () => false): ProjectCopy {
  const folder = mkdtempSync(join(tmpdir(), "switchboard-copy-"));
  cpSync(root, folder, {
    recursive: true,
    filter: (path) => !notCopied.includes(basename(path)) && !without(path.slice(root.length + 1)),
  });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const read = (file: string) => readFileSync(join(folder, file), "utf8");
  return {
    folder,
    run: (...args) => spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" }),
    read,
    change: (file, edit) => writeFileSync(join(folder, file), edit(read(file))),
    files: () => Object.fromEntries(filesIn(folder).map((file) => [file, read(file)])),
    remove: () => rmSync(folder, { recursive: true }),
  };
}

/** A copy with everything that runs tools, and no tool. */
export function copyWithoutTools(): ProjectCopy {
  const copy = copyProject((path) => /^functions\/[a-z]\w*$/.test(path) || /^(manifests|test)\/./.test(path));
  copy.change("functions/tools.ts", (text) =>
    text.replaceAll(/^import \{ contract as .*\n/gm, "").replace(/contracts = \[[^\]]*\]/, "contracts = []"),
  );
  return copy;
}

const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((file) => !notCopied.some((name) => file.split("/").includes(name)));
