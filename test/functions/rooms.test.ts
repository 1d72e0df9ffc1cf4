import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix, sep } from "node:path";
import { describe, expect, test } from "vitest";
import { root } from "./manifest_reader.ts";

/* Which room of functions/ may lean on which (CONTRIBUTING.md, "Where things live"). */

const folder = join(root, "functions");
const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .map((path) => path.split(sep).join("/"))
  .filter((path) => path.endsWith(".ts"));

/** Imports that are there when it runs; those of types alone vanish. */
function importsOf(file: string): string[] {
  const source = readFileSync(join(folder, file), "utf8");
  const relative = /^(?:import|export)(?! type)\b[^;"]*?from "(\.[^"]+)";/gm;
  return [...source.matchAll(relative)].map(([, path = ""]) => posix.join(dirname(file), path));
}
const imports = new Map(files.map((file) => [file, importsOf(file)]));

/** What stands between the wire and the tools, and so above what the rest of `_runtime` is for: to be used by every room. */
const edge = ["_runtime/serve.ts", "_runtime/invocation.ts", "_runtime/auth.ts"];
const isTool = (file: string) => /^[a-z]\w*\//.test(file);
const roomOf = (file: string) =>
  edge.includes(file) ? "the edge" : isTool(file) ? "a tool" : String(file.split("/")[0]);

/** The rooms that a room may lean on, beside itself. */
const below: Record<string, readonly string[]> = {
  _runtime: [],
  _table: ["_runtime"],
  _delivery: ["_runtime", "_table"],
  _repositories: ["_runtime", "_table"],
  // Who speaks, which `auth.ts` knows, is part of what is audited.
  _governance: ["_runtime", "_table", "_delivery", "the edge"],
  _schedules: ["_runtime", "_table", "_delivery"],
  "the edge": ["_runtime", "_table", "_governance"],
  "a tool": ["_runtime", "_table", "_delivery", "_repositories", "_governance", "_schedules", "the edge"],
  "tools.ts": ["_runtime", "a tool"],
  _workers: ["_runtime", "_table", "_delivery", "_repositories", "_governance", "_schedules", "the edge", "tools.ts"],
};

describe.each([...new Set(files.map(roomOf))].sort())("%s", (room) => {
  test("leans only on what lies below it", () => {
    const wrong = files
      .filter((file) => roomOf(file) === room)
      .flatMap((file) => imports.get(file)?.map((imported) => ({ file, imported })) ?? [])
      .filter(
        ({ imported }) => imported.startsWith("..") || ![room, ...(below[room] ?? [])].includes(roomOf(imported)),
      );
    expect(wrong.filter(({ imported }) => imported !== "../package.json")).toEqual([]);
  });
});

test("tools and workers never import one another", () => {
  const home = (file: string) => /^(_workers\/\w+|[a-z]\w*)\//.exec(file)?.[1];
  for (const [file, imported] of imports) {
    const others = imported.map(home).filter((other) => other !== undefined && other !== home(file));
    if (home(file) !== undefined) expect(others, file).toEqual([]);
  }
});

test("no file imports itself by way of others", () => {
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    expect(path, "a ring of imports").not.toContain(file);
    if (done.has(file)) return;
    for (const imported of imports.get(file) ?? []) visit(imported, [...path, file]);
    done.add(file);
  };
  for (const file of files) visit(file, []);
});
