import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ListObjectsV2Command, S3Client } from "@aws-sdk/client-s3";
import { afterAll, describe, expect, inject, test } from "vitest";
import { localClient } from "../../infra/local/client_config.ts";
import { startTestSystem } from "../system.ts";
import { makeRepository, makeTree, sync, writeFiles } from "./fixture.ts";

const system = await startTestSystem();
afterAll(() => system.stop());
const { tool } = system;
const s3 = new S3Client(localClient(inject("fauxqsEndpoint")));

const lineOf = async (repositoryId: string, path: string, key?: string) => {
  const input = { repositoryId, path, startLine: 1, endLine: 1 };
  const { status, body } = await tool("read_file_range", input, key === undefined ? {} : { key });
  return status === 200 ? body.content : body.error?.type;
};

const objects = async (prefix: string) =>
  (await s3.send(new ListObjectsV2Command({ Bucket: system.env.REPOSITORIES_BUCKET, Prefix: prefix }))).Contents ?? [];
const snapshotsOf = async (id: string) =>
  new Set((await objects(`repositories/local/${id}/`)).map(({ Key = "" }) => Key.split("/")[3]));

/** Nothing of the operator's own git settings. */
const gitEnv = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" };
const git = (dir: string, ...args: string[]) =>
  execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.com", ...args], {
    cwd: dir,
    env: gitEnv,
    encoding: "utf8",
  }).trim();

function makeCheckout(files: Record<string, string>): string {
  const dir = makeTree(files);
  git(dir, "init", "-q");
  git(dir, "add", "-A");
  git(dir, "commit", "-qm", "first");
  return dir;
}

describe("a git checkout", () => {
  test("is what git lists: tracked and new files, none that are ignored, none that are deleted", async () => {
    const dir = makeCheckout({
      ".gitignore": "dist/\n*.log\n",
      "a.ts": "a\n",
      "gone.ts": "gone\n",
      "目录/b.ts": "b\n",
    });
    writeFiles(dir, { "dist/out.js": "out\n", "debug.log": "log\n", "new.ts": "new\n" });
    rmSync(join(dir, "gone.ts"));
    const { files, commit, skipped } = await sync(dir, "listed");
    expect({ files, commit }).toEqual({ files: 4, commit: "" });
    expect(skipped).toEqual([expect.stringContaining("gone.ts")]);
    expect(await lineOf("listed", "new.ts")).toBe("new\n");
    expect(await lineOf("listed", "目录/b.ts")).toBe("b\n");
    for (const path of ["dist/out.js", "debug.log", "gone.ts", ".git/HEAD"])
      expect(await lineOf("listed", path)).toBe("FILE_NOT_FOUND");
  });

  test("without changes is its commit, and every reference says so", async () => {
    const dir = makeCheckout({ "a.ts": "needle\n" });
    const commit = git(dir, "rev-parse", "HEAD");
    expect(await sync(dir, "clean")).toMatchObject({ commit });
    const read = await tool("read_file_range", { repositoryId: "clean", path: "a.ts", startLine: 1, endLine: 1 });
    expect(read.body.sourceRef).toBe(`git://repo/clean/file/a.ts?commit=${commit}#L1-L1`);
    const { body } = await tool("search_code", { repositoryId: "clean", query: "needle" });
    expect(body.matches[0]?.sourceRef).toBe(read.body.sourceRef);
  });

  test("with --ref is that commit, whatever the working tree holds", async () => {
    const dir = makeCheckout({ "a.ts": "old\n", "empty.ts": "" });
    git(dir, "tag", "v1");
    writeFiles(dir, { "a.ts": "new\n", "b.ts": "b\n" });
    git(dir, "add", "-A");
    git(dir, "commit", "-qm", "second");
    const { files, commit } = await sync(dir, "at-ref", "local", "v1");
    expect({ files, commit }).toEqual({ files: 2, commit: git(dir, "rev-parse", "v1") });
    expect(await lineOf("at-ref", "a.ts")).toBe("old\n");
    expect(await lineOf("at-ref", "b.ts")).toBe("FILE_NOT_FOUND");
    for (const ref of ["v9", "--help", "HEAD^{tree}"])
      await expect(sync(dir, "at-ref", "local", ref)).rejects.toThrow(`no commit "${ref}"`);
    expect(await lineOf("at-ref", "a.ts")).toBe("old\n");
  });

  test("with --ref keeps no symbolic link either", async () => {
    const dir = makeCheckout({ "a.ts": "a\n" });
    symlinkSync("/etc/hostname", join(dir, "host"));
    git(dir, "add", "-A");
    git(dir, "commit", "-qm", "link");
    expect(await sync(dir, "linked-ref", "local", "HEAD")).toMatchObject({ files: 1 });
  });
});

test("symbolic links are never followed: not to a file, not through a folder, in a checkout or outside of one (I7)", async () => {
  const outside = makeTree({ "secret.txt": "secret\n" });
  for (const isCheckout of [false, true]) {
    const dir = isCheckout
      ? makeCheckout({ "a.ts": "a\n", "folder/secret.txt": "mine\n" })
      : makeTree({ "a.ts": "a\n" });
    rmSync(join(dir, "folder"), { recursive: true, force: true });
    symlinkSync(join(outside, "secret.txt"), join(dir, "link.txt"));
    symlinkSync(outside, join(dir, "folder"));
    const id = isCheckout ? "linked-checkout" : "linked";
    await sync(dir, id);
    expect(await lineOf(id, "a.ts")).toBe("a\n");
    for (const path of ["link.txt", "folder/secret.txt", "folder"])
      expect(await lineOf(id, path)).toBe("FILE_NOT_FOUND");
  }
});

test("a name in another Unicode form is found by either", async () => {
  await sync(makeTree({ "cafe\u0301.txt": "é\n" }), "forms");
  expect(await lineOf("forms", "caf\u00e9.txt")).toBe("é\n");
  expect(await lineOf("forms", "cafe\u0301.txt")).toBe("é\n");
});

test("a directory without files, or none at all, changes nothing", async () => {
  const dir = makeTree({ "a.ts": "a\n" });
  await sync(dir, "kept");
  rmSync(join(dir, "a.ts"));
  await expect(sync(dir, "kept")).rejects.toThrow("There is no file in");
  await expect(sync(join(dir, "nowhere"), "kept")).rejects.toThrow("can't be read");
  expect(await lineOf("kept", "a.ts")).toBe("a\n");
});

test("the last three snapshots stay, and nothing of the others", async () => {
  const dir = makeTree({ "a.ts": "0\n" });
  const all: string[] = [];
  for (const version of [1, 2, 3, 4, 5]) {
    writeFileSync(join(dir, "a.ts"), `${version}\n`);
    all.push((await sync(dir, "versions")).snapshot);
    expect(await lineOf("versions", "a.ts")).toBe(`${version}\n`);
  }
  expect(await snapshotsOf("versions")).toEqual(new Set(all.slice(2)));
});

test("what a sync that died has left is removed when it is a day old, and not before", async () => {
  const { putObject } = await import("../../infra/repositories/bucket.ts");
  const id = await makeRepository({ "a.ts": "a\n" });
  const [old, young] = [25, 23].map((hours) => `${Date.now() - hours * 3_600_000}-00000000`);
  for (const snapshot of [old, young])
    await putObject(`repositories/local/${id}/${snapshot}/content/0`, Buffer.from("half"));
  const { snapshot } = await sync(makeTree({ "a.ts": "b\n" }), id);
  expect(await snapshotsOf(id)).toEqual(expect.objectContaining(new Set([young, snapshot])));
  expect(await snapshotsOf(id)).not.toContain(old);
});

test("syncs of one repository at once all end, and one of them serves whole", async () => {
  const trees = [1, 2, 3, 4].map((version) => makeTree({ "a.ts": `${version}\n`, "b.ts": `${version}\n` }));
  await Promise.all(trees.map((dir) => sync(dir, "raced")));
  const [a, b] = [await lineOf("raced", "a.ts"), await lineOf("raced", "b.ts")];
  expect(a).toBe(b);
  expect(["1\n", "2\n", "3\n", "4\n"]).toContain(a);
  expect((await snapshotsOf("raced")).size).toBe(3);
});

test("who reads while it is synced sees one state or the other, never parts of both, and no failure", async () => {
  const dir = makeTree({});
  const version = (n: number) => writeFiles(dir, { "a.ts": `${n}\n`.repeat(50), "b.ts": `${n}\n`.repeat(50) });
  version(0);
  await sync(dir, "read-on");
  let isDone = false;
  const reader = (async () => {
    const seen: string[] = [];
    while (!isDone) {
      const { status, body } = await tool("read_file_range", {
        repositoryId: "read-on",
        path: "a.ts",
        startLine: 1,
        endLine: 50,
      });
      expect(status).toBe(200);
      expect(new Set(body.content.trim().split("\n")).size).toBe(1);
      seen.push(body.content.split("\n")[0] ?? "");
    }
    return seen;
  })();
  for (const n of [1, 2, 3, 4, 5]) {
    version(n);
    await sync(dir, "read-on");
  }
  isDone = true;
  const seen = (await reader).map(Number);
  expect(seen).toEqual([...seen].sort((a, b) => a - b));
});

describe("a key", () => {
  const refusalOf = async (key: string, repositoryId: string) => {
    const input = { repositoryId, path: "a.ts", startLine: 1, endLine: 1 };
    const [read, search] = [
      await tool("read_file_range", input, { key }),
      await tool("search_code", { repositoryId, query: "a" }, { key }),
    ];
    const { message, type, details } = read.body.error ?? {};
    expect(search.body.error).toMatchObject({ message, type, details });
    return { status: read.status, type, message, details };
  };

  test("reads the repositories it names, and is refused alike whether or not another exists", async () => {
    await sync(makeTree({ "a.ts": "mine\n" }), "mine");
    await sync(makeTree({ "a.ts": "other\n" }), "other");
    const key = await system.createKey({ repositories: ["mine"] });
    expect(await lineOf("mine", "a.ts", key)).toBe("mine\n");
    const foreign = await refusalOf(key, "other");
    expect(foreign).toEqual({
      status: 403,
      type: "PERMISSION_DENIED",
      message: "This key may read no repository of that name.",
      details: { may_read: ["mine"] },
    });
    for (const id of ["nowhere", "Mine", "mine/", "../mine", "local/mine", "mine\u0000", "*", "constructor"]) {
      expect(await refusalOf(key, id)).toEqual(foreign);
    }
  });

  test("of another workspace reads nothing of this one, also with *", async () => {
    await sync(makeTree({ "a.ts": "ours\n" }), "ours");
    await sync(makeTree({ "a.ts": "theirs\n" }), "theirs", "acme");
    const key = await system.createKey({ workspace: "acme", repositories: ["*"] });
    expect(await lineOf("theirs", "a.ts", key)).toBe("theirs\n");
    expect(await refusalOf(key, "ours")).toEqual(await refusalOf(key, "nowhere"));
    expect((await refusalOf(key, "ours")).details).toEqual({ may_read: ["theirs"] });
    const named = await system.createKey({ workspace: "acme", repositories: ["ours"] });
    expect((await refusalOf(named, "ours")).status).toBe(403);
  });

  test("without a list reads none, and one without the scope is told which it lacks", async () => {
    await sync(makeTree({ "a.ts": "a\n" }), "listed-for-none");
    expect((await refusalOf(await system.createKey({ repositories: [] }), "listed-for-none")).status).toBe(403);
    const scopeless = await system.createKey({ scopes: ["agent:read"] });
    const { body } = await tool("search_code", { repositoryId: "listed-for-none", query: "a" }, { key: scopeless });
    expect(body.error).toMatchObject({ type: "PERMISSION_DENIED", details: { missing: ["repo:read"] } });
  });

  test("that may read all is told which repository was meant", async () => {
    await sync(makeTree({ "a.ts": "a\n" }), "order-service");
    const { body } = await tool("search_code", { repositoryId: "order-servise", query: "a" });
    expect(body.error).toMatchObject({ type: "PERMISSION_DENIED", hint: "Did you mean order-service?" });
  });
});

test("a file that is gone from the bucket is a failure of ours, said without saying where", async () => {
  const id = await makeRepository({ "a.ts": "needle\n" });
  const { deleteBelow } = await import("../../infra/repositories/bucket.ts");
  await deleteBelow(`repositories/local/${id}/`);
  const { status, body } = await tool("search_code", { repositoryId: id, query: "needle" });
  expect(status).toBe(500);
  expect(JSON.stringify(body)).not.toMatch(/NoSuchKey|repositories\/|bucket/i);
});

test("the directory of a tree may be anywhere, also one that an outer checkout ignores", async () => {
  const dir = makeCheckout({ ".gitignore": "vendor/\n", "a.ts": "a\n" });
  mkdirSync(join(dir, "vendor"));
  writeFiles(dir, { "vendor/lib.js": "lib\n", "sub/c.ts": "c\n" });
  expect(await sync(join(dir, "vendor"), "vendored")).toMatchObject({ files: 1, commit: "" });
  expect(await sync(join(dir, "sub"), "sub")).toMatchObject({ files: 1 });
  expect(await lineOf("vendored", "lib.js")).toBe("lib\n");
  expect(await lineOf("sub", "c.ts")).toBe("c\n");
});
