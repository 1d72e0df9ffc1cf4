/*
 * What reading code costs, on an installed package tree of more than 5,000 files and on a quarter of it, beside what
 * plain reading of the same files costs in the same run: `npm run repo:bench [-- DIR]`.
 */
import { cpSync, mkdtempSync, openSync, readdirSync, readFileSync, readSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { startSystem } from "../../infra/local/system.ts";
import { toolClient } from "../tool_client.ts";

interface Row {
  what: string;
  p50: number;
  p99: number;
}

const repetitions = 40;

/** Milliseconds of each of many runs: the median, and the worst of a hundred (here of all). */
async function timed(what: string, run: () => unknown, times = repetitions): Promise<Row> {
  await run();
  const took: number[] = [];
  for (let round = 0; round < times; round++) {
    const from = performance.now();
    await run();
    took.push(performance.now() - from);
  }
  took.sort((a, b) => a - b);
  const at = (part: number) =>
    Number((took[Math.min(took.length - 1, Math.floor(part * took.length))] ?? 0).toFixed(1));
  return { what, p50: at(0.5), p99: at(0.99) };
}

const filesBelow = (dir: string) =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort();

const largeLines = 200_000;
const large = Array.from(
  { length: largeLines },
  (_, at) => `${String(at + 1).padStart(7, "0")} ${"x".repeat(44)}\n`,
).join("");
const rareWord = "zQvKjXw-rare-term";

/** A copy of every `each`-th file, a file of 10 MB, and one with a term that nothing else holds. */
function makeTree(dir: string, each: number): string {
  const tree = mkdtempSync(join(tmpdir(), "switchboard-bench-"));
  for (const [index, file] of filesBelow(dir).entries()) {
    if (index % each === 0) cpSync(file, join(tree, relative(dir, file)), { recursive: true });
  }
  writeFileSync(join(tree, "large.txt"), large);
  writeFileSync(join(tree, "rare.txt"), `one line with ${rareWord} in it\n`);
  return tree;
}

/** What `grep -l` would do: read every file, and look for bytes in it. */
function grep(tree: string, text: string): number {
  const bytes = Buffer.from(text);
  return filesBelow(tree).filter((file) => readFileSync(file).includes(bytes)).length;
}

/** What a range costs whoever knows where it is. */
function readAt(file: number, line: number): Buffer {
  const bytes = Buffer.alloc(20 * 53);
  readSync(file, bytes, 0, bytes.length, (line - 1) * 53);
  return bytes;
}

/** Runs all measurements; prints them when they are there. */
export async function benchRepositories(dir = "node_modules/aws-cdk-lib"): Promise<Row[]> {
  const system = await startSystem({ port: 0, sweepEveryMs: 0 });
  const tool = toolClient(system.url, system.key);
  const { syncRepository } = await import("../../infra/repositories/sync.ts");
  const rows: Row[] = [];
  try {
    for (const [repositoryId, each] of [
      ["whole", 1],
      ["quarter", 4],
    ] as const) {
      const tree = makeTree(resolve(dir), each);
      const began = performance.now();
      const { files, bytes, segments } = await syncRepository("local", repositoryId, tree, undefined);
      const seconds = ((performance.now() - began) / 1000).toFixed(1);
      console.log(
        `${repositoryId}: ${files} files, ${(bytes / 1e6).toFixed(1)} MB of text, ${segments} segments, synced in ${seconds} s`,
      );
      const measure = async (row: Promise<Row>) => {
        const { what, p50, p99 } = await row;
        rows.push({ what: `${repositoryId}: ${what}`, p50, p99 });
      };
      for (const [where, startLine] of [
        ["first", 1],
        ["middle", largeLines / 2],
        ["last", largeLines - 19],
      ] as const) {
        const input = { repositoryId, path: "large.txt", startLine, endLine: startLine + 19 };
        await measure(timed(`read ${where} 20 lines of 10 MB`, () => succeed(tool("read_file_range", input))));
      }
      const small = { repositoryId, path: "rare.txt", startLine: 1, endLine: 1 };
      await measure(timed("read a file of one line", () => succeed(tool("read_file_range", small))));
      const open = openSync(join(tree, "large.txt"), "r");
      await measure(timed("floor: the middle lines from the file", () => readAt(open, largeLines / 2)));
      for (const [name, query] of [
        ["rare", rareWord],
        ["common", "import"],
        ["absent", "zQvKjXw-absent"],
      ] as const) {
        await measure(timed(`search a ${name} term`, () => succeed(tool("search_code", { repositoryId, query }))));
      }
      const expression = { repositoryId, query: "class \\w+Bucket\\b", regex: true };
      await measure(timed("search an expression", () => succeed(tool("search_code", expression)), 10));
      await measure(timed("floor: read and scan every file", () => grep(tree, rareWord), 3));
      rmSync(tree, { recursive: true });
    }
  } finally {
    await system.stop();
  }
  console.table(rows);
  return rows;
}

async function succeed(answer: Promise<{ status: number; body: object }>): Promise<void> {
  const { status, body } = await answer;
  if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await benchRepositories(process.argv[2]);
