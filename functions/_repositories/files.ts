import * as z from "zod";
import { lineEndings } from "./line_endings.ts";
import { readObject, readStream, remember, rootKey, type SnapshotPlace } from "./objects.ts";

/** `binary`: not UTF-8 text, or with a NUL. `large`: over the size limit. Of both only the name is kept. */
const fileKinds = ["text", "binary", "large"] as const;

/** What is known of a file. Its content lies at `offset` of the content stream. */
export interface FileEntry {
  path: string;
  kind: (typeof fileKinds)[number];
  /** Bytes, of which only a text's are kept. */
  size: number;
  offset: number;
  lines: number;
  lineEnding: (typeof lineEndings)[number];
  /** Number of its first segment, and how many it has; an empty file has none. */
  firstSegment: number;
  segments: number;
}

/** As a line of the files stream: short, since a large repository has many. */
const row = z.tuple([
  z.string(),
  z.enum(fileKinds),
  z.number(),
  z.number(),
  z.number(),
  z.enum(lineEndings),
  z.number(),
  z.number(),
]);

export const fileLine = (file: FileEntry) =>
  `${JSON.stringify([file.path, file.kind, file.size, file.offset, file.lines, file.lineEnding, file.firstSegment, file.segments])}\n`;

function fromLine(line: string): FileEntry {
  const [path, kind, size, offset, lines, lineEnding, firstSegment, segments] = row.parse(JSON.parse(line));
  return { path, kind, size, offset, lines, lineEnding, firstSegment, segments };
}

/** Bytes of the files stream that are read at once, about 300 files. */
export const fileBlockBytes = 32 * 1024;

const root = z.object({
  format: z.literal(1),
  files: z.number(),
  segments: z.number(),
  contentBytes: z.number(),
  filesBytes: z.number(),
  /** Blocks of the files stream, sorted: first path, number of the first file, where the block begins. */
  blocks: z.array(z.tuple([z.string(), z.number(), z.number()])),
});

/** A snapshot as its readers hold it. */
export type Root = z.output<typeof root>;
export interface Snapshot extends Root {
  place: SnapshotPlace;
}

export async function openSnapshot(place: SnapshotPlace): Promise<Snapshot> {
  const key = rootKey(place);
  const bytes = await remember(key, () => readObject(key));
  return { place, ...root.parse(JSON.parse(bytes.toString())) };
}

/** The order of paths: by UTF-16 code units, which is no language's and the same everywhere. */
export const comparePaths = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** The file of exactly this path; undefined when there is none. One read, of a block of the index. */
export async function findFile(snapshot: Snapshot, path: string): Promise<FileEntry | undefined> {
  const block = blockAround(snapshot, path);
  if (block < 0) return undefined;
  return (await readBlock(snapshot, block)).find((file) => file.path === path);
}

/** The block that would hold a path; -1 when the path sorts before all. */
export const blockAround = ({ blocks }: Snapshot, path: string) => lastIndex(blocks, ([first]) => first <= path);

/** The files of a block, sorted by path. */
export async function readBlock({ place, blocks, filesBytes }: Snapshot, block: number): Promise<FileEntry[]> {
  const from = blocks[block]?.[2] ?? filesBytes;
  const to = blocks[block + 1]?.[2] ?? filesBytes;
  const bytes = await remember(`${rootKey(place)} files ${block}`, () => readStream(place, "files", from, to));
  return bytes.toString().split("\n").slice(0, -1).map(fromLine);
}

/** The block that holds the file of this number. */
export const blockOf = ({ blocks }: Snapshot, file: number) => lastIndex(blocks, ([, first]) => first <= file);

/** Index of the last entry for which `holds`, in a list where it holds for a beginning; -1 when for none. */
export function lastIndex<T>(list: readonly T[], holds: (entry: T) => boolean): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const entry = list[middle];
    if (entry !== undefined && holds(entry)) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
