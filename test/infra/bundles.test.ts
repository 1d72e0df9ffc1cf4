import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import type { Metafile } from "esbuild";
import { afterAll, expect, test, vi } from "vitest";
import { contracts } from "../../functions/tools.ts";
import { bundle, toolEntry, workerEntry } from "../../infra/bundle.ts";
import { workers } from "../../infra/names.ts";
import { root } from "./synthesized.ts";

vi.setConfig({ testTimeout: 600_000, hookTimeout: 60_000 });

const folder = mkdtempSync(join(tmpdir(), "switchboard-artefacts-"));
// Below the repository, so that its packages are found.
const floors = join(root, ".cache/floors");
afterAll(() => {
  rmSync(folder, { recursive: true });
  rmSync(floors, { recursive: true, force: true });
});

interface Measured {
  /** The least processor time of its cold imports; how long they take only says how busy the machine is. */
  importMs: number;
  exports: string;
}

const probe = `const start = process.cpuUsage();
const { handler } = await import("./index.mjs");
const { user, system } = process.cpuUsage(start);
console.log(JSON.stringify({ importMs: (user + system) / 1000, exports: typeof handler }));`;

const kbOf = (artefact: string) => statSync(join(artefact, "index.mjs")).size / 1024;

/** Puts an artefact alone into an empty folder; answers that folder. */
function setAlone(name: string, artefact: string): string {
  const alone = join(folder, name);
  mkdirSync(alone, { recursive: true });
  copyFileSync(join(artefact, "index.mjs"), join(alone, "index.mjs"));
  writeFileSync(join(alone, "probe.mjs"), probe);
  return alone;
}

/** Loads artefacts in plain Node, in turns, so that a busy moment meets them alike. */
function load(...folders: string[]): Measured[] {
  // The least that Lambda always sets: nothing of the repository's or the operator's environment.
  const run = (cwd: string): Measured =>
    JSON.parse(
      execFileSync(process.execPath, ["probe.mjs"], { cwd, encoding: "utf8", env: { AWS_REGION: "us-east-1" } }),
    );
  const rounds = [1, 2, 3].map(() => folders.map(run));
  return folders.map((_, at) => {
    const runs = rounds.flatMap((round) => round[at] ?? []);
    return { importMs: Math.min(...runs.map((each) => each.importMs)), exports: runs[0]?.exports ?? "" };
  });
}

/** What the SDK clients of a function are used through: the floor holds no command that the function doesn't. */
const clients: Record<string, string> = {
  "@aws-sdk/client-dynamodb": "DynamoDBClient",
  "@aws-sdk/client-s3": "S3Client",
  "@aws-sdk/client-sqs": "SQSClient",
  "@aws-sdk/client-secrets-manager": "SecretsManagerClient",
};

const commands: Record<string, string> = {
  "@aws-sdk/lib-dynamodb":
    "DynamoDBDocumentClient, GetCommand, PutCommand, UpdateCommand, DeleteCommand, QueryCommand, BatchGetCommand, BatchWriteCommand, TransactWriteCommand",
  "@aws-sdk/client-s3": "GetObjectCommand",
  // No SDK client, but what search_code is about, and nothing smaller does it: 147 KB, a fifth of that bundle.
  re2js: "RE2JS",
  "@aws-sdk/client-sqs": "SendMessageBatchCommand",
  "@aws-sdk/client-secrets-manager": "GetSecretValueCommand",
};

const known = [
  "@aws-sdk/client-dynamodb",
  "@aws-sdk/lib-dynamodb",
  "@aws-sdk/client-s3",
  "@aws-sdk/client-sqs",
  "@aws-sdk/client-secrets-manager",
  "re2js",
];

/** The SDK packages of which something is left in the bundle. */
function usedPackages({ outputs }: Metafile): string[] {
  const left = Object.values(outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([input, { bytesInOutput }]) => (bytesInOutput > 0 ? [input] : [])),
  );
  return known.filter((name) => left.some((input) => input.startsWith(`node_modules/${name}/`)));
}

/** Bundles a handler that has only the SDK clients that this one uses, and zod. Like ours, it makes its clients at load. */
function floorOf(metafile: Metafile): string {
  const packages = usedPackages(metafile);
  const names = packages.map((name) => [clients[name], commands[name]].filter(Boolean).join(", "));
  const imports = packages.map((name, index) => `import { ${names[index]} } from "${name}";`);
  mkdirSync(floors, { recursive: true });
  const entry = join(floors, `${packages.join("+").replaceAll(/@aws-sdk.(client-)?/g, "")}.ts`);
  writeFileSync(
    entry,
    `${imports.join("\n")}
import * as z from "zod";
const input = z.strictObject({ name: z.string() });
const made = [${packages.flatMap((name) => (clients[name] ? [`new ${clients[name]}({})`] : [])).join(", ")}];
export const handler = async (event: unknown) => [input.parse(event), made, ${names.join(", ")}];
`,
  );
  return bundle(relative(root, entry)).folder;
}

const all = [
  ...contracts.map(({ name }) => ({ name, entry: toolEntry(name), isTool: true })),
  ...workers.map((name) => ({ name, entry: workerEntry(name), isTool: false })),
];

/** A tool's budget, as a multiple of its floor. */
const budget = 1.25;

test("each artefact, alone in an empty folder, loads in plain Node and exports its handler; tools stay near their floor", () => {
  const rows = all.map(({ name, entry, isTool }) => {
    const { folder: artefact, metafile } = bundle(entry);
    const map = JSON.parse(readFileSync(join(artefact, "index.mjs.map"), "utf8"));
    expect(map.sourcesContent).toBeUndefined();
    const floorArtefact = floorOf(metafile);
    const [measured, floor] = load(setAlone(name, artefact), setAlone(`floor-of-${name}`, floorArtefact));
    return {
      name,
      isTool,
      exports: measured?.exports,
      kb: kbOf(artefact),
      floorKb: kbOf(floorArtefact),
      importMs: measured?.importMs ?? 0,
      floorMs: floor?.importMs ?? 0,
    };
  });
  console.table(
    rows.map(({ name, kb, floorKb, importMs, floorMs }) => ({
      function: name,
      KB: Math.round(kb),
      "floor KB": Math.round(floorKb),
      "size ratio": Number((kb / floorKb).toFixed(2)),
      "import CPU ms": Math.round(importMs),
      "floor CPU ms": Math.round(floorMs),
      "time ratio": Number((importMs / floorMs).toFixed(2)),
    })),
  );
  expect(rows.filter(({ exports }) => exports !== "function")).toEqual([]);
  const over = rows.filter(({ isTool, kb, floorKb }) => isTool && kb > budget * floorKb);
  expect(over.map(({ name }) => name)).toEqual([]);
  // A tripwire: over all tools it is 1.15 to 1.25, and off by more than that on a busy machine.
  const total = (of: "importMs" | "floorMs") =>
    rows.filter(({ isTool }) => isTool).reduce((sum, row) => sum + row[of], 0);
  expect(total("importMs") / total("floorMs")).toBeLessThan(1.5);
});
