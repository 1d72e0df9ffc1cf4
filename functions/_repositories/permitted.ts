import { closest, distance } from "fastest-levenshtein";
import type { Principal } from "../_runtime/auth.ts";
import { ToolError } from "../_runtime/errors.ts";
import {
  listRepositories,
  type RepositoryRecord,
  readRepository,
  type SnapshotRecord,
} from "../_table/repositories.ts";
import { openSnapshot, type Snapshot } from "./files.ts";

/** A repository that the caller may read. */
export interface Permitted {
  id: string;
  snapshots: RepositoryRecord["snapshots"];
}

/**
 * The repository, when the key may read it. One that is not there and one that is foreign are answered alike, so
 * that names can't be probed; near matches come only from what the key may read.
 * @throws {ToolError} PERMISSION_DENIED
 */
export async function permitted(principal: Principal, id: string): Promise<Permitted> {
  const { workspace, repositories } = principal;
  const isNamed = repositories.includes("*") || repositories.includes(id);
  const found = isNamed ? await readRepository(workspace, id) : undefined;
  if (found !== undefined) return found;
  const readable = repositories.includes("*")
    ? (await listRepositories(workspace)).map((each) => each.id)
    : [...repositories];
  throw new ToolError("PERMISSION_DENIED", "This key may read no repository of that name.", {
    ...suggestionOf(id, readable),
    details: { may_read: readable.slice(0, 50) },
  });
}

function suggestionOf(id: string, readable: readonly string[]): { hint?: string } {
  const near = readable.length === 0 ? undefined : closest(id, readable);
  return near !== undefined && distance(id, near) <= 3 ? { hint: `Did you mean ${near}?` } : {};
}

/**
 * Runs `read` on one snapshot, the pointer to which was read once. Snapshots are removed after three newer ones; one
 * that goes while it is read is no fault of the caller's, who may ask again.
 * @throws {ToolError} UNAVAILABLE
 */
export async function reading<T>(
  principal: Principal,
  { id }: Permitted,
  { id: snapshot, commit }: SnapshotRecord,
  read: (snapshot: Snapshot, commit: string) => Promise<T>,
): Promise<T> {
  const { workspace } = principal;
  try {
    return await read(await openSnapshot({ workspace, repository: id, snapshot }), commit);
  } catch (error) {
    if (error instanceof ToolError) throw error;
    // Without the permission to list, S3 answers "access denied" for what is gone: only the record tells.
    const now = await readRepository(workspace, id);
    if (now?.snapshots.some((kept) => kept.id === snapshot)) throw error;
    throw new ToolError("UNAVAILABLE", "The repository was replaced while it was read.", { retryAfterS: 1 });
  }
}
