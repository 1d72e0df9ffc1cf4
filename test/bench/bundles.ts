import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import type { Metafile } from "esbuild";
import { contracts } from "../../functions/tools.ts";
import { bundle, toolEntry, workerEntry } from "../../infra/bundle.ts";
import { workers } from "../../infra/names.ts";

const root = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "switchboard-artefacts-"));
// Below the repository, so that its packages are found.
const floors = join(root, ".cache/floors");
process.on("exit", () => {
  rmSync(folder, { recursive: true, force: true });
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

/**
 * How functions use the SDK's packages: the client that each makes at load, and the commands. The floor holds no
 * command that our functions don't.
 */
const sdk: Record<string, { client?: string; commands: string[] }> = {
  "@aws-sdk/client-dynamodb": { client: "DynamoDBClient", commands: [] },
  "@aws-sdk/lib-dynamodb": {
    commands: [
      "DynamoDBDocumentClient",
      ...["Get", "Put", "Update", "Delete", "Query", "BatchGet", "BatchWrite", "TransactWrite"].map(
        (name) => `${name}Command`,
      ),
    ],
  },
  "@aws-sdk/client-sqs": { client: "SQSClient", commands: ["SendMessageBatchCommand"] },
  "@aws-sdk/client-secrets-manager": { client: "SecretsManagerClient", commands: ["GetSecretValueCommand"] },
  "@aws-sdk/client-lambda": { client: "LambdaClient", commands: ["InvokeCommand"] },
  "@aws-sdk/client-s3": { client: "S3Client", commands: ["GetObjectCommand"] },
  "@aws-sdk/client-scheduler": {
    client: "SchedulerClient",
    commands: ["CreateScheduleCommand", "DeleteScheduleCommand"],
  },
  // Not the SDK's: what makes an expression's time linear in the text, whatever a caller asks.
  re2js: { commands: ["RE2JS"] },
  "@aws-sdk/client-sns": { client: "SNSClient", commands: ["PublishCommand"] },
};

/** The SDK packages of which something is left in the bundle. */
function usedPackages({ outputs }: Metafile): string[] {
  const left = Object.values(outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([input, { bytesInOutput }]) => (bytesInOutput > 0 ? [input] : [])),
  );
  return Object.keys(sdk).filter((name) => left.some((input) => input.startsWith(`node_modules/${name}/`)));
}

/** Bundles a handler that has only the SDK clients that this one uses, and zod. Like ours, it makes its clients at load. */
function floorOf(metafile: Metafile): string {
  const packages = usedPackages(metafile);
  const uses = packages.map((name) => ({ name, commands: [], ...sdk[name] }));
  const imports = uses.map(
    ({ name, client, commands }) => `import { ${[client ?? [], commands].flat().join(", ")} } from "${name}";`,
  );
  const made = uses.flatMap(({ client }) => (client === undefined ? [] : [`new ${client}({})`]));
  mkdirSync(floors, { recursive: true });
  const entry = join(floors, `${packages.join("+").replaceAll(/@aws-sdk.(client-)?/g, "")}.ts`);
  writeFileSync(
    entry,
    `${imports.join("\n")}
import * as z from "zod";
const input = z.strictObject({ name: z.string() });
const made = [${made.join(", ")}];
export const handler = async (event: unknown) => [input.parse(event), made, ${uses.flatMap(({ commands }) => commands).join(", ")}];
`,
  );
  return bundle(relative(root, entry)).folder;
}

const all = [
  ...contracts.map(({ name }) => ({ name, entry: toolEntry(name), isTool: true })),
  ...workers.map((name) => ({ name, entry: workerEntry(name), isTool: false })),
];

/** A function's bundle beside a handler that has only its SDK clients and zod. */
export interface BundleFigure {
  name: string;
  isTool: boolean;
  /** What it exports as `handler`, loaded alone in an empty folder. */
  exports: string;
  kb: number;
  floorKb: number;
  importMs: number;
  floorMs: number;
  /** Folder that holds the bundle and its source map. */
  artefact: string;
}

export function bundleFigures(): BundleFigure[] {
  return all.map(({ name, entry, isTool }) => {
    const { folder: artefact, metafile } = bundle(entry);
    const floorArtefact = floorOf(metafile);
    const [measured, floor] = load(setAlone(name, artefact), setAlone(`floor-of-${name}`, floorArtefact));
    return {
      name,
      isTool,
      exports: measured?.exports ?? "",
      kb: kbOf(artefact),
      floorKb: kbOf(floorArtefact),
      importMs: measured?.importMs ?? 0,
      floorMs: floor?.importMs ?? 0,
      artefact,
    };
  });
}
