import { GetObjectCommand } from "@aws-sdk/client-s3";
import { s3 } from "../_runtime/clients.ts";
import { env } from "../_runtime/env.ts";
import { repositoriesPrefix } from "../_table/keys.ts";

/*
 * How a snapshot lies in the bucket: a root, and a few byte streams, each cut into parts of one size, so that an
 * address in a stream says which part and where in it. Everything is written once and never changed. No key holds
 * anything that a caller of a tool has sent.
 */

/** Which snapshot of which repository. */
export interface SnapshotPlace {
  workspace: string;
  repository: string;
  snapshot: string;
}

/**
 * - content: the text of all files, one after another in the order of their paths
 * - files: what is known of each file (`files.ts`)
 * - segments: where segments of the content begin (`segments.ts`)
 * - trigrams, postings: which segments hold which three bytes (`trigrams.ts`)
 */
export type StreamName = "content" | "files" | "segments" | "trigrams" | "postings";

export const partBytes = 4 * 1024 * 1024;

export const repositoryPrefix = (workspace: string, repository: string) =>
  `${repositoriesPrefix}${workspace}/${repository}/`;
export const snapshotPrefix = ({ workspace, repository, snapshot }: SnapshotPlace) =>
  `${repositoryPrefix(workspace, repository)}${snapshot}/`;
export const rootKey = (place: SnapshotPlace) => `${snapshotPrefix(place)}root.json`;
export const partKey = (place: SnapshotPlace, stream: StreamName, part: number) =>
  `${snapshotPrefix(place)}${stream}/${part}`;

/** A whole object. */
export const readObject = (key: string): Promise<Buffer> => fetchObject(key);

/**
 * Bytes `from` up to `to` of a stream: one ranged GET, or one for each part that the range touches, side by side.
 * @throws {S3ServiceException} when a part is gone
 */
export async function readStream(place: SnapshotPlace, stream: StreamName, from: number, to: number): Promise<Buffer> {
  if (to <= from) return Buffer.alloc(0);
  const first = Math.floor(from / partBytes);
  const last = Math.floor((to - 1) / partBytes);
  const pieces = Array.from({ length: last - first + 1 }, (_, index) => {
    const part = first + index;
    const start = Math.max(from - part * partBytes, 0);
    const end = Math.min(to - part * partBytes, partBytes);
    return fetchObject(partKey(place, stream, part), `bytes=${start}-${end - 1}`);
  });
  const [only, ...more] = await Promise.all(pieces);
  return only !== undefined && more.length === 0 ? only : Buffer.concat([...(only ? [only] : []), ...more]);
}

async function fetchObject(Key: string, Range?: string): Promise<Buffer> {
  const { Body } = await s3.send(
    new GetObjectCommand({ Bucket: env().REPOSITORIES_BUCKET, Key, ...(Range !== undefined && { Range }) }),
  );
  if (Body === undefined) throw new Error(`${Key} has no body.`);
  return Buffer.from(await Body.transformToByteArray());
}

/** Index pieces that a warm function has read: immutable, so they are right for as long as they are remembered. */
const remembered = new Map<string, Buffer>();
let rememberedBytes = 0;
const mostRememberedBytes = 16 * 1024 * 1024;

/**
 * The same as `read`, from memory when this function has read it before. For pieces of indexes, never for content.
 * @param name tells the piece from every other, its snapshot included
 */
export async function remember(name: string, read: () => Promise<Buffer>): Promise<Buffer> {
  const known = remembered.get(name);
  if (known !== undefined) return known;
  const piece = await read();
  if (!remembered.has(name)) rememberedBytes += piece.length;
  remembered.set(name, piece);
  for (const [oldest, { length }] of remembered) {
    if (rememberedBytes <= mostRememberedBytes) break;
    remembered.delete(oldest);
    rememberedBytes -= length;
  }
  return piece;
}
