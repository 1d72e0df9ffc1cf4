import { randomBytes } from "node:crypto";
import { OperatorError } from "../arguments.ts";
import { deleteBelow, putObject, snapshotsBelow } from "./bucket.ts";
import type { Built } from "./build.ts";
import { readTree } from "./tree.ts";

/** How many snapshots of a repository stay: what was being read, or paged through, when a newer one came. */
const keptSnapshots = 3;

/** After this a sync that has not ended is taken for dead, and what it has written is removed by the next. */
const longestSyncMs = 24 * 3_600_000;

export interface Synced extends Built {
  snapshot: string;
  commit: string;
  skipped: string[];
}

/**
 * Uploads the tree in `dir` under a new snapshot, lets that serve, and removes what nobody reads any more. Until the
 * one conditional write that switches over, the old snapshot serves, whatever happens to this process.
 * @throws {OperatorError} when the tree can't be read
 */
export async function syncRepository(
  workspace: string,
  repository: string,
  dir: string,
  ref: string | undefined,
): Promise<Synced> {
  const { publishSnapshot } = await import("../../functions/_table/repositories.ts");
  const { repositoryPrefix, snapshotPrefix } = await import("../../functions/_repositories/objects.ts");
  const { SnapshotBuilder } = await import("./build.ts");
  const began = Date.now();
  const snapshot = `${String(began).padStart(13, "0")}-${randomBytes(4).toString("hex")}`;
  const place = { workspace, repository, snapshot };
  const tree = await readTree(dir, ref);
  try {
    // Rather a mistake than a wish; what serves stays.
    if (tree.files.length === 0) throw new OperatorError(`There is no file in ${dir} that could be synced.`);
    const built = await new SnapshotBuilder(place, putObject).build(tree);
    if (Date.now() - began > longestSyncMs) throw new OperatorError("The sync took more than a day: run it again.");
    const { commit, skipped } = tree;
    const { files, bytes } = built;
    const record = { id: snapshot, commit, files, bytes, created_at: began };
    const { kept, dropped } = await publishSnapshot(workspace, repository, record, keptSnapshots);
    for (const id of await snapshotsBelow(repositoryPrefix(workspace, repository))) {
      const isDead = !kept.includes(id) && Number(id.split("-")[0]) < began - longestSyncMs;
      if (dropped.includes(id) || isDead) await deleteBelow(snapshotPrefix({ ...place, snapshot: id }));
    }
    return { ...built, snapshot, commit, skipped };
  } finally {
    tree.close();
  }
}
