/*
 * Writes the Tool Definition of every contract to manifests/<tool>.json (`npm run manifests`).
 * With --check it writes nothing and fails when a file there is missing, stale or left over.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { definition } from "../functions/_runtime/manifest.ts";
import { contracts } from "../functions/tools.ts";

const root = resolve(import.meta.dirname, "..");
const { values: options } = parseArgs({
  options: { check: { type: "boolean", default: false }, dir: { type: "string", default: join(root, "manifests") } },
});

/** What each file must hold. Biome itself formats them, so that the linter and this script never disagree. */
function render(): Map<string, string> {
  const draft = mkdtempSync(join(tmpdir(), "manifests-"));
  const files = contracts.map(({ name }) => `${name}.json`);
  for (const contract of contracts) {
    writeFileSync(join(draft, `${contract.name}.json`), JSON.stringify(definition(contract, "en")));
  }
  const biome = createRequire(import.meta.url).resolve("@biomejs/biome/bin/biome");
  const config = `--config-path=${join(root, "biome.json")}`;
  execFileSync(process.execPath, [biome, "format", "--write", config, "--vcs-enabled=false", draft], { stdio: "pipe" });
  const rendered = new Map(files.map((file) => [file, readFileSync(join(draft, file), "utf8")]));
  rmSync(draft, { recursive: true });
  return rendered;
}

const inDir = (file: string) => join(options.dir, file);
const holds = (file: string, text: string) => existsSync(inDir(file)) && readFileSync(inDir(file), "utf8") === text;

mkdirSync(options.dir, { recursive: true });
const wanted = render();
const stale = [...wanted].filter(([file, text]) => !holds(file, text));
const leftOver = readdirSync(options.dir).filter((file) => !wanted.has(file));

if (options.check) {
  for (const [file] of stale) console.error(`${inDir(file)} does not say what its contract says: npm run manifests`);
  for (const file of leftOver) console.error(`${inDir(file)} belongs to no tool: npm run manifests`);
  if (stale.length + leftOver.length > 0) process.exitCode = 1;
} else {
  for (const [file, text] of stale) writeFileSync(inDir(file), text);
  for (const file of leftOver) rmSync(inDir(file));
}
