import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { ListObjectsV2Command, S3Client } from "@aws-sdk/client-s3";
import { afterAll, expect, test } from "vitest";
import { localClient } from "../../infra/local/client_config.ts";
import { runningSystems } from "../../infra/local/registry.ts";
import { makeTree, writeFiles } from "../repositories/fixture.ts";
import { toolClient } from "../tool_client.ts";
import { type LocalProcess, startProcess } from "./start_process.ts";

const script = join(import.meta.dirname, "../../infra/repo.ts");
const dir = mkdtempSync(join(tmpdir(), "switchboard-"));
afterAll(() => rmSync(dir, { recursive: true }));

const start = () => startProcess(["--data", join(dir, "data")], { TABLE_NAME: basename(dir) });
let system = await start();
afterAll(() => system.stop());

const repoArgs = ({ port }: LocalProcess, args: string[]) => [script, ...args, "--port", String(port)];

/** Runs `npm run repo -- <args>` as an operator does. */
function repo(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, repoArgs(system, args), (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code), out: out.trim(), err: err.trim() });
    });
  });
}

async function firstLine(repositoryId: string, path: string): Promise<string | undefined> {
  const input = { repositoryId, path, startLine: 1, endLine: 1 };
  const { body } = await toolClient(system.url, system.key)("read_file_range", input);
  return body.content ?? body.error?.type;
}

/** The snapshots of `big` of which anything lies in the bucket. */
async function snapshots(): Promise<Set<string>> {
  const { env } = runningSystems().find(({ port }) => port === system.port) ?? { env: {} as Record<string, string> };
  const s3 = new S3Client(localClient(String(env.AWS_ENDPOINT_URL_S3)));
  const list = new ListObjectsV2Command({ Bucket: env.REPOSITORIES_BUCKET, Prefix: "repositories/local/big/" });
  const { Contents = [] } = await s3.send(list);
  return new Set(Contents.map(({ Key = "" }) => Key.split("/")[3] ?? ""));
}

/** Waits until there is something of another snapshot than those that are known: then a kill is in the middle. */
async function untilUploading(known: ReadonlySet<string>, child: ChildProcess): Promise<void> {
  while (child.exitCode === null) {
    if ([...(await snapshots())].some((id) => !known.has(id))) return;
  }
  throw new Error("The sync had ended before anything of it was seen.");
}

test("syncs, lists and removes repositories of a running system", async () => {
  const tree = makeTree({ "a.ts": "one\n", "logo.png": new Uint8Array([0, 1]) });
  expect(await repo("sync", tree, "--id", "order-service")).toMatchObject({
    code: 0,
    out: expect.stringMatching(
      /^order-service: 2 files, 0\.0 MiB of text, in .* s\nonly the names of 1 binary and 0 oversized/,
    ),
  });
  expect(await firstLine("order-service", "a.ts")).toBe("one\n");
  expect((await repo("list")).out).toMatch(/^order-service +\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ +2 +0\.0 MiB +- +0$/m);
  expect(await repo("remove", "--id", "order-service")).toMatchObject({ code: 0, out: "order-service is removed." });
  expect(await firstLine("order-service", "a.ts")).toBe("PERMISSION_DENIED");
  expect(await repo("remove", "--id", "order-service")).toMatchObject({
    code: 1,
    err: "Workspace local has no repository order-service.",
  });
});

test.each([
  [[], "Say what to do."],
  [["snyc"], 'There is no command "snyc". Did you mean sync?'],
  [["sync", "--id", "x"], "sync needs a directory."],
  [["sync", "."], "sync needs --id"],
  [["sync", ".", "--id", "../x"], `--id: "../x" can't be a repository's name`],
  [["sync", ".", "x", "--id", "x"], '"x" is too much'],
  [["list", "--ref", "x"], "--ref means nothing to list"],
  [["sync", "/no/such/dir", "--id", "x"], "/no/such/dir can't be read"],
])("%j is refused with a reason", async (args, reason) => {
  const { code, out, err } = await repo(...args);
  expect({ code, out }).toEqual({ code: 1, out: "" });
  expect(err).toContain(reason);
});

test("a sync that is killed half way leaves the old snapshot serving, and the next one works; all survives kill -9 of the system", async () => {
  const text = (version: number) => `version ${version}\n${"filler of this file\n".repeat(200_000)}`;
  const version = (number: number) =>
    Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`f${at}.txt`, text(number)]));
  const tree = makeTree(version(1));
  expect(await repo("sync", tree, "--id", "big")).toMatchObject({ code: 0 });
  const known = await snapshots();
  expect(known.size).toBe(1);

  writeFiles(tree, version(2));
  const child = spawn(process.execPath, repoArgs(system, ["sync", tree, "--id", "big"]), { stdio: "ignore" });
  const ended = once(child, "close");
  await untilUploading(known, child);
  child.kill("SIGKILL");
  expect(await ended).toEqual([null, "SIGKILL"]);
  for (const at of [0, 11]) expect(await firstLine("big", `f${at}.txt`)).toBe("version 1\n");

  await system.kill9();
  system = await start();
  for (const at of [0, 11]) expect(await firstLine("big", `f${at}.txt`)).toBe("version 1\n");
  expect(await repo("sync", tree, "--id", "big")).toMatchObject({ code: 0 });
  expect(await firstLine("big", "f11.txt")).toBe("version 2\n");
}, 180_000);
