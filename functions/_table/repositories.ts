import * as z from "zod";
import { isRepositoryId, repositories, repository as repositoryKey } from "./keys.ts";
import { ConditionFailed, get, put, queryPrefix, remove } from "./table.ts";

/** One state of a repository's tree. Its files lie in the bucket, immutable, under its id. */
const snapshot = z.object({
  /** Sorts by the instant at which its sync began. */
  id: z.string(),
  /** The commit that its files are, in hex; "" where that is not known. */
  commit: z.string(),
  files: z.number(),
  /** Bytes of its text. */
  bytes: z.number(),
  created_at: z.number(),
});
export type SnapshotRecord = z.output<typeof snapshot>;

const record = z.object({
  workspace: z.string(),
  id: z.string(),
  /** Counts the changes, so that none is made on top of one that was not seen. */
  revision: z.number(),
  /** Newest first; the first one serves. */
  snapshots: z.tuple([snapshot], snapshot),
});
export type RepositoryRecord = z.output<typeof record>;

/** Access pattern: one repository. Strongly consistent; a name that can't be one is unknown. */
export async function readRepository(workspace: string, id: string): Promise<RepositoryRecord | undefined> {
  if (!isRepositoryId(id)) return undefined;
  const item = await get(repositoryKey(workspace, id));
  return item && record.parse(item);
}

/** Access pattern: a workspace's repositories by name, strongly consistent. */
export async function listRepositories(workspace: string): Promise<RepositoryRecord[]> {
  return (await queryPrefix(repositories(workspace), "")).map((item) => record.parse(item));
}

/**
 * Lets a snapshot serve, in one conditional write: every reader sees the old one or the new one, whole. Of two at
 * once, the one that is written last serves.
 * @param keep how many snapshots stay, this one included
 * @returns ids of those that stay, and of those that nobody can find any more
 */
export async function publishSnapshot(
  workspace: string,
  id: string,
  published: SnapshotRecord,
  keep: number,
): Promise<{ kept: string[]; dropped: string[] }> {
  for (;;) {
    const before = await readRepository(workspace, id);
    const all = [published, ...(before?.snapshots ?? [])];
    const next = { workspace, id, revision: (before?.revision ?? 0) + 1, snapshots: all.slice(0, keep) };
    try {
      await put({
        Item: { ...repositoryKey(workspace, id), ...next },
        ...(before
          ? { ConditionExpression: "#revision = :seen", ExpressionAttributeValues: { ":seen": before.revision } }
          : { ConditionExpression: "attribute_not_exists(PK)" }),
      });
      const ids = all.map((each) => each.id);
      return { kept: ids.slice(0, keep), dropped: ids.slice(keep) };
    } catch (error) {
      // Somebody published or removed in between: then this comes on top of that.
      if (!(error instanceof ConditionFailed)) throw error;
    }
  }
}

/** From here on nobody can read it. False when there is none. */
export async function removeRepository(workspace: string, id: string): Promise<boolean> {
  try {
    await remove({ Key: repositoryKey(workspace, id), ConditionExpression: "attribute_exists(PK)" });
    return true;
  } catch (error) {
    if (error instanceof ConditionFailed) return false;
    throw error;
  }
}
