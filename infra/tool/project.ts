import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { OperatorError } from "../arguments.ts";
import type { Draft } from "./draft.ts";
import { withErrors, withTool } from "./rows.ts";
import { contractSource, handlerSource, testSource } from "./sources.ts";

const root = resolve(import.meta.dirname, "../..");
const inProject = (file: string) => join(root, file);

/** What `addTool` makes and changes, by path from the project's root. */
export interface Changed {
  made: string[];
  changed: string[];
}

/** The places that a tool of this name takes. */
const placesOf = (name: string) => [`functions/${name}`, `test/functions/${name}.test.ts`, `manifests/${name}.json`];

/** @throws {OperatorError} when the project has a tool, a folder or a file of this name */
function assertFree(name: string): void {
  const taken = placesOf(name).find((place) => existsSync(inProject(place)));
  if (taken === undefined) return;
  throw new OperatorError(`There is ${taken} already. Take another name, or remove that tool first.`);
}

/**
 * Adds a tool to the project: its folder, its test, its row among the tools, its errors, its manifest. All of it or,
 * when something fails, nothing.
 */
export function addTool(draft: Draft): Changed {
  const { name } = draft;
  assertFree(name);
  const made = new Map([
    [`functions/${name}/contract.ts`, contractSource(draft)],
    [`functions/${name}/handler.ts`, handlerSource()],
    [`test/functions/${name}.test.ts`, testSource(draft)],
  ]);
  const changed = changes(
    ["functions/tools.ts", (text) => withTool(text, name)],
    ["functions/_runtime/errors.ts", (text) => withErrors(text, Object.keys(draft.errorModel))],
  );
  const before = new Map([...changed.keys()].map((file) => [file, readFileSync(inProject(file), "utf8")]));
  try {
    for (const [file, text] of formatted(new Map([...made, ...changed]))) replace(file, text);
    emitManifests();
  } catch (error) {
    for (const place of placesOf(name)) rmSync(inProject(place), { recursive: true, force: true });
    for (const [file, text] of before) replace(file, text);
    throw error;
  }
  return { made: [...made.keys(), `manifests/${name}.json`], changed: [...changed.keys()] };
}

/** The files that an edit changes at all, with their new texts. */
function changes(...edits: [file: string, edit: (text: string) => string][]): Map<string, string> {
  const after = edits.map(([file, edit]) => {
    const text = readFileSync(inProject(file), "utf8");
    return [file, text, edit(text)] as const;
  });
  return new Map(after.filter(([, before, text]) => before !== text).map(([file, , text]) => [file, text]));
}

/** The texts as `npm run format` leaves them. */
function formatted(files: ReadonlyMap<string, string>): Map<string, string> {
  mkdirSync(inProject(".cache"), { recursive: true });
  const drafts = mkdtempSync(inProject(".cache/tool-"));
  try {
    for (const [file, text] of files) write(join(drafts, file), text);
    const biome = createRequire(import.meta.url).resolve("@biomejs/biome/bin/biome");
    const options = ["--write", `--config-path=${inProject("biome.json")}`, "--vcs-enabled=false"];
    runNode("The formatter", biome, "check", ...options, drafts);
    return new Map([...files.keys()].map((file) => [file, readFileSync(join(drafts, file), "utf8")]));
  } finally {
    rmSync(drafts, { recursive: true });
  }
}

/** Renamed into place: whoever reads now finds the old file or the new one, whole. */
function replace(file: string, text: string): void {
  const next = inProject(`${file}.new`);
  write(next, text);
  renameSync(next, inProject(file));
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** In a process of its own, which loads the contracts as they are now. */
const emitManifests = () => runNode("npm run manifests", inProject("infra/manifests.ts"));

/** @throws {OperatorError} with what it printed when it fails */
function runNode(what: string, ...args: string[]): void {
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  if (status !== 0) throw new OperatorError(`${what} failed, so that nothing was changed:\n${stderr}`);
}
