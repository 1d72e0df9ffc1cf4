import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { aligned } from "./aligned.ts";
import { fail, OperatorError, parsing, suggestion, UsageError } from "./arguments.ts";
import { type Place, placeOptions, placeUsage, readPlace, readRepositoryId } from "./place.ts";
import { connect } from "./systems.ts";

const usage = `Usage: npm run repo -- <command> [options]

Repositories are what read_file_range and search_code read.

Commands:
  sync DIR   upload the tree in DIR as the repository's new snapshot, and switch to it when all is there: in a git
             checkout what git lists and doesn't ignore, elsewhere every file; never through a symbolic link
  list       show a workspace's repositories
  remove     remove a repository (--id) with all its snapshots

Options:
${placeUsage}
  --id ID         the repository's name: letters, digits, ., _ and -
  --ref REF       sync: the files of this commit, branch or tag, not those of the working tree
  --help
`;

const options = {
  ...placeOptions,
  id: { type: "string" },
  ref: { type: "string" },
  help: { type: "boolean" },
} as const;

const commands = ["sync", "list", "remove"] as const;

type Command =
  | { name: "sync"; dir: string; id: string; ref: string | undefined }
  | { name: "list" }
  | { name: "remove"; id: string };

/** Reads a command line; undefined when it asks for help. @throws {UsageError} */
function readCommand(args: readonly string[]): (Command & Place) | undefined {
  const { values, positionals } = parsing(() => parseArgs({ args: [...args], options, allowPositionals: true }));
  if (values.help) return undefined;
  const [first, dir, ...rest] = positionals;
  if (first === undefined) throw new UsageError("Say what to do.");
  const name = commands.find((known) => known === first);
  if (!name) throw new UsageError(`There is no command "${first}".${suggestion(first, commands)}`);
  const place = readPlace(values);
  const surplus = name === "sync" ? rest : positionals.slice(1);
  if (surplus.length > 0) throw new UsageError(`"${surplus.join(" ")}" is too much.`);
  if (values.ref !== undefined && name !== "sync") throw new UsageError(`--ref means nothing to ${name}.`);
  if (name === "list") return { name, ...place };
  if (values.id === undefined) throw new UsageError(`${name} needs --id: which repository?`);
  const id = readRepositoryId("--id", values.id);
  if (name === "remove") return { name, id, ...place };
  if (dir === undefined) throw new UsageError("sync needs a directory.");
  return { name, dir: resolve(dir), id, ref: values.ref, ...place };
}

async function main(): Promise<void> {
  const command = readCommand(process.argv.slice(2));
  if (!command) return void console.log(usage);
  await connect(command);
  if (command.name === "sync") return sync(command.workspace, command);
  if (command.name === "list") return list(command.workspace);
  await remove(command.workspace, command.id);
}

async function sync(workspace: string, { id, dir, ref }: Command & { name: "sync" }): Promise<void> {
  const { syncRepository } = await import("./repositories/sync.ts");
  const began = performance.now();
  const { files, binary, large, bytes, commit, skipped } = await syncRepository(workspace, id, dir, ref);
  for (const line of skipped) console.error(`left out: ${line}`);
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  console.log(`${id}: ${files} files, ${megabytes(bytes)} of text, in ${seconds} s`);
  if (binary + large > 0) console.log(`only the names of ${binary} binary and ${large} oversized files`);
  console.log(commit === "" ? "no commit: not exactly what git has" : `commit ${commit}`);
}

async function list(workspace: string): Promise<void> {
  const { listRepositories } = await import("../functions/_table/repositories.ts");
  const rows = (await listRepositories(workspace)).map(({ id, snapshots: [current, ...older] }) => [
    id,
    current === undefined ? "-" : `${new Date(current.created_at).toISOString().slice(0, 19)}Z`,
    String(current?.files ?? 0),
    megabytes(current?.bytes ?? 0),
    current?.commit || "-",
    String(older.length),
  ]);
  console.log(aligned([["ID", "SYNCED", "FILES", "TEXT", "COMMIT", "OLDER"], ...rows]));
}

async function remove(workspace: string, id: string): Promise<void> {
  const { removeRepository } = await import("../functions/_table/repositories.ts");
  const { repositoryPrefix } = await import("../functions/_repositories/objects.ts");
  const { deleteBelow } = await import("./repositories/bucket.ts");
  const wasThere = await removeRepository(workspace, id);
  // Also when it was not: what a removal that died has left goes with the next.
  await deleteBelow(repositoryPrefix(workspace, id));
  if (!wasThere) throw new OperatorError(`Workspace ${workspace} has no repository ${id}.`);
  console.log(`${id} is removed.`);
}

const megabytes = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(1)} MiB`;

main().catch((error: unknown) => fail(error, usage));
