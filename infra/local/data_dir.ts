import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { OperatorError } from "../arguments.ts";

/** A directory that keeps a local system's data between runs; for one running system at a time. */
export interface DataDir {
  path: string;
  /** A secret that was kept here before, or undefined. */
  read(name: string): string | undefined;
  /** Keeps a secret, readable by its owner only. */
  write(name: string, secret: string): void;
  close(): void;
}

/** @throws {OperatorError} when the directory can't be made or another system uses it */
export function openDataDir(path: string): DataDir {
  makePrivate(path);
  const lock = takeLock(path);
  return {
    path,
    read: (name) => readIfThere(join(path, name)),
    write: (name, secret) => {
      // Renamed into place, so that a crash leaves the old secret or the new one, and never half of it.
      const draft = join(path, `${name}.new`);
      writeFileSync(draft, secret, { mode: 0o600, flush: true });
      renameSync(draft, join(path, name));
    },
    close: () => lock.close(),
  };
}

function makePrivate(path: string): void {
  try {
    mkdirSync(path, { recursive: true });
    chmodSync(path, 0o700);
  } catch (error) {
    throw new OperatorError(`Data can't be kept in ${path}: ${(error as Error).message}.`, { cause: error });
  }
}

/** A lock by SQLite, since the kernel lifts it however this process ends; a file with a process id would stay. */
function takeLock(path: string): DatabaseSync {
  const lock = new DatabaseSync(join(path, "lock.db"));
  try {
    lock.exec("BEGIN EXCLUSIVE");
    return lock;
  } catch (error) {
    lock.close();
    throw new OperatorError(`Another Switchboard is using ${path}. Stop it, or choose another directory with --data.`, {
      cause: error,
    });
  }
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
