import { execFile, spawn } from "node:child_process";
import { type FileHandle, lstat, open, readdir, realpath } from "node:fs/promises";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { comparePaths } from "../../functions/_repositories/files.ts";
import { OperatorError } from "../arguments.ts";
import { BlobReader } from "./blobs.ts";

/** The most that is kept of one file. */
const largestFileBytes = 16 * 1024 * 1024;

/** A file of a tree. */
export interface TreeFile {
  /** From the tree's root, in NFC, with `/`. */
  path: string;
  /** Its bytes; "large" when it has more than `largestFileBytes`, undefined when it is no file any more. */
  read(): Promise<Uint8Array | "large" | undefined>;
}

export interface Tree {
  /** Sorted by path. */
  files: TreeFile[];
  /** The commit that the files are, when it is known. */
  commit: string;
  /** What was left out, and why. */
  skipped: string[];
  close(): void;
}

/**
 * What git lists, when `dir` is in a git checkout: of a `ref` its files, otherwise the files of the working tree that
 * are not ignored. Without git, every file below `dir`. Symbolic links are left out, never followed.
 * @throws {OperatorError} when there is no such directory or ref
 */
export async function readTree(dir: string, ref: string | undefined): Promise<Tree> {
  const root = await realpath(dir).catch((cause: unknown) => {
    throw new OperatorError(`${dir} can't be read: ${(cause as Error).message}.`, { cause });
  });
  const isCheckout = await isTracked(root);
  if (ref !== undefined) return atRef(root, ref);
  const names = isCheckout
    ? await git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    : undefined;
  const listed = names === undefined ? await everyFile(root) : decoded(split(names));
  const commit = isCheckout ? await cleanCommit(root) : "";
  const files = named(listed, (name) => () => readFile(root, name));
  return { ...files, commit, close: () => {} };
}

/** Whether git keeps this directory: one that an outer checkout ignores (`node_modules`) is like one without git. */
async function isTracked(root: string): Promise<boolean> {
  const isInside = await git(root, "rev-parse", "--is-inside-work-tree").then(
    (answer) => answer.toString().trim() === "true",
    () => false,
  );
  const isIgnored = () =>
    git(root, "check-ignore", "--quiet", ".").then(
      () => true,
      () => false,
    );
  return isInside && !(await isIgnored());
}

/** The commit of the working tree, if it holds exactly that. */
async function cleanCommit(root: string): Promise<string> {
  const changes = await git(root, "status", "--porcelain", "-z", "--", ".");
  if (changes.length > 0) return "";
  return git(root, "rev-parse", "--verify", "HEAD").then(
    (answer) => answer.toString().trim(),
    () => "", // No commit yet.
  );
}

async function atRef(root: string, ref: string): Promise<Tree> {
  const commit = await git(root, "rev-parse", "--verify", "--end-of-options", `${ref}^{commit}`).then(
    (answer) => answer.toString().trim(),
    (cause: unknown) => {
      throw new OperatorError(`There is no commit "${ref}" in ${root}.`, { cause });
    },
  );
  const blobs = new Map<string, string>();
  const lines = split(await git(root, "ls-tree", "-r", "-z", commit));
  for (const line of lines) {
    const tab = line.indexOf(9);
    const [mode, type, object] = line.subarray(0, tab).toString().split(" ");
    // 120000 is a symbolic link; a commit is a submodule.
    if (type === "blob" && mode !== "120000") blobs.set(line.subarray(tab + 1).toString("latin1"), String(object));
  }
  const reader = new BlobReader(
    spawn("git", ["cat-file", "--batch"], { cwd: root, stdio: ["pipe", "pipe", "ignore"] }),
  );
  const listed = decoded([...blobs.keys()].map((name) => Buffer.from(name, "latin1")));
  const files = named(listed, (name) => {
    const object = blobs.get(Buffer.from(name).toString("latin1")) ?? "";
    return () => reader.read(object, largestFileBytes);
  });
  return { ...files, commit, close: () => reader.close() };
}

interface Listed {
  names: string[];
  skipped: string[];
}

/** Sorted, in NFC; of two names that are then the same, the first stays. */
function named(
  { names, skipped }: Listed,
  reader: (name: string) => TreeFile["read"],
): Pick<Tree, "files" | "skipped"> {
  const files = new Map<string, TreeFile>();
  for (const name of new Set(names)) {
    const path = name.normalize("NFC");
    if (files.has(path)) skipped.push(`${name}: another file has this name in another Unicode form`);
    else files.set(path, { path, read: reader(name) });
  }
  return { files: [...files.values()].sort((a, b) => comparePaths(a.path, b.path)), skipped };
}

function decoded(names: readonly Buffer[]): Listed {
  const listed: Listed = { names: [], skipped: [] };
  for (const name of names) {
    const text = name.toString();
    if (Buffer.from(text).equals(name)) listed.names.push(text);
    else listed.skipped.push(`${text}: its name is not UTF-8`);
  }
  return listed;
}

/** Of a directory that git doesn't keep. What is below a `.git` is not what its files are. */
async function everyFile(root: string): Promise<Listed> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(root, join(parentPath, name)));
  const kept = names.filter((name) => !/(^|\/)\.git\//.test(name));
  const damaged = kept.filter((name) => name.includes("\ufffd"));
  return {
    names: kept.filter((name) => !damaged.includes(name)),
    skipped: damaged.map((name) => `${name}: its name is not UTF-8`),
  };
}

/** A file of the working tree, if no step of its path is a symbolic link. */
async function readFile(root: string, name: string): Promise<Uint8Array | "large" | undefined> {
  const file = join(root, name);
  let handle: FileHandle | undefined;
  try {
    if (!(await lstat(file)).isFile() || (await realpath(file)) !== file) return undefined;
    handle = await open(file);
    const { size } = await handle.stat();
    return size > largestFileBytes ? "large" : await handle.readFile();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Deleted but still in git's index, or since it was listed.
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error;
  } finally {
    await handle?.close();
  }
}

const run = promisify(execFile);
const git = async (cwd: string, ...args: string[]): Promise<Buffer> =>
  (await run("git", args, { cwd, encoding: "buffer", maxBuffer: 1024 * 1024 * 1024 })).stdout;

/** Parts that end with a NUL. */
function split(bytes: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  for (let from = 0, to = bytes.indexOf(0); to >= 0; from = to + 1, to = bytes.indexOf(0, from)) {
    parts.push(bytes.subarray(from, to));
  }
  return parts;
}
