import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

/*
 * What the bench is measured beside is no dependency of the project: it is installed below `.cache`, the first time
 * and whenever its versions change.
 */

const run = promisify(execFile);
const cache = join(import.meta.dirname, "../../../.cache");

/** A folder below `.cache` that `fill` has filled once. @param version names its content */
async function filledOnce(name: string, version: string, fill: (folder: string) => Promise<void>): Promise<string> {
  const folder = join(cache, `${name}-${version}`);
  const complete = join(folder, "complete");
  if (existsSync(complete)) return folder;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await fill(folder);
  writeFileSync(complete, "");
  return folder;
}

/** The folder in whose `node_modules` the A2A SDK and BullMQ are. */
export function installPackages(): Promise<string> {
  const manifests = ["package.json", "package-lock.json"];
  const version = createHash("sha256");
  for (const file of manifests) version.update(readFileSync(join(import.meta.dirname, file)));
  return filledOnce("peers", version.digest("hex").slice(0, 12), async (folder) => {
    for (const file of manifests) copyFileSync(join(import.meta.dirname, file), join(folder, file));
    await run("npm", ["ci", "--ignore-scripts", "--omit=optional"], { cwd: folder });
  });
}

/** Debian's Redis, and the libraries it needs that a small system may lack. */
const debianPackages = ["redis-server", "redis-tools", "libjemalloc2", "liblzf1", "libatomic1"];

/** How Redis is started. */
export interface RedisProgram {
  path: string;
  env: Record<string, string>;
}

/**
 * The Redis on PATH, or Debian's, unpacked below `.cache` without installing it.
 * @throws {Error} saying what to do, where neither can be had
 */
export async function installRedis(): Promise<RedisProgram> {
  const known = await run("redis-server", ["--version"]).catch(() => undefined);
  if (known !== undefined) return { path: "redis-server", env: {} };
  try {
    const folder = await filledOnce("redis", "debian", unpackDebianPackages);
    const libraries = readdirSync(join(folder, "usr/lib")).map((name) => join(folder, "usr/lib", name));
    return { path: join(folder, "usr/bin/redis-server"), env: { LD_LIBRARY_PATH: libraries.join(":") } };
  } catch (error) {
    throw new Error(
      "BullMQ needs a Redis: there is no redis-server on PATH, and Debian's could not be downloaded " +
        `(apt-get update, as root, may be all that is missing). Install one and try again.\n${(error as Error).message}`,
    );
  }
}

async function unpackDebianPackages(folder: string): Promise<void> {
  const download = () => run("apt-get", ["download", ...debianPackages], { cwd: folder });
  await download().catch(async () => {
    await run("apt-get", ["update"]);
    await download();
  });
  for (const file of readdirSync(folder).filter((name) => name.endsWith(".deb"))) {
    await run("dpkg", ["-x", file, folder], { cwd: folder });
  }
}
