import { blockOf, type FileEntry, readBlock, type Snapshot } from "../_repositories/files.ts";
import { readStream } from "../_repositories/objects.ts";
import { numberedSegments, type Segment } from "../_repositories/segments.ts";
import { excerpt } from "./excerpt.ts";
import type { LineMatcher } from "./line_matcher.ts";

/** What one call may cost; stated in the contract. */
const mostBytes = 16 * 1024 * 1024;
const longestMs = 8_000;
/** Segments read at once: few at first, since the page may be full soon. */
const [firstBatch, largestBatch] = [8, 64];

interface Search {
  /** Those that may hold a match; undefined: any. */
  segments: readonly number[] | undefined;
  matcher: LineMatcher;
  /** Whether a path is to be searched. */
  includes(path: string): boolean;
  limit: number;
}

interface Match {
  path: string;
  line: number;
  startByte: number;
  excerpt: string;
}

interface Found {
  matches: Match[];
  /** Where to go on; undefined when all is searched. */
  next: { segment: number; line: number } | undefined;
  stoppedEarly: boolean;
}

/** A segment whose file is to be searched. */
interface Piece extends Segment {
  number: number;
  end: number;
  path: string;
}

/** Searches segment after segment, from a position on, until the page is full, all is searched or a limit is met. */
export async function scan(
  snapshot: Snapshot,
  search: Search,
  from: { segment: number; line: number },
): Promise<Found> {
  const until = Date.now() + longestMs;
  const matches: Match[] = [];
  let bytes = 0;
  for await (const batch of batches(snapshot, search, from.segment)) {
    for (const [piece, text] of await contentsOf(snapshot, batch.pieces)) {
      // At least one segment is searched in each call, however large, so that every search comes to its end.
      if (bytes > 0 && (bytes + text.length > mostBytes || Date.now() > until)) {
        return { matches, next: { segment: piece.number, line: 0 }, stoppedEarly: true };
      }
      bytes += text.length;
      const after = piece.number === from.segment ? from.line : 0;
      for (const match of matchesIn(piece, text.toString("utf8"), search.matcher, after)) {
        if (matches.length === search.limit) {
          return { matches, next: { segment: piece.number, line: match.line - 1 }, stoppedEarly: false };
        }
        matches.push(match);
      }
    }
    // Without a piece nothing was read, but looking at names takes time too.
    if (batch.rest < snapshot.segments && Date.now() > until) {
      return { matches, next: { segment: batch.rest, line: 0 }, stoppedEarly: true };
    }
  }
  return { matches, next: undefined, stoppedEarly: false };
}

/** The segments that are to be searched, in order; `rest` is the number behind a batch. */
async function* batches(snapshot: Snapshot, { segments, includes }: Search, from: number) {
  const wanted = segments?.filter((number) => number >= from);
  const count = wanted?.length ?? snapshot.segments - from;
  const isIncluded = new Map<number, string | undefined>();
  for (let [at, size] = [0, firstBatch]; at < count; at += size, size = Math.min(size * 2, largestBatch)) {
    const numbers = wanted?.slice(at, at + size) ?? range(from + at, Math.min(from + at + size, snapshot.segments));
    const pieces: Piece[] = [];
    for (const [number, segment, end] of await numberedSegments(snapshot, numbers)) {
      if (!isIncluded.has(segment.file)) {
        const { path } = await fileOf(snapshot, segment.file);
        isIncluded.set(segment.file, includes(path) ? path : undefined);
      }
      const path = isIncluded.get(segment.file);
      if (path !== undefined) pieces.push({ ...segment, number, end, path });
    }
    yield { pieces, rest: (numbers.at(-1) ?? from) + 1 };
  }
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);

async function fileOf(snapshot: Snapshot, file: number): Promise<FileEntry> {
  const block = blockOf(snapshot, file);
  const entry = (await readBlock(snapshot, block))[file - (snapshot.blocks[block]?.[1] ?? 0)];
  if (entry === undefined) throw new Error(`The snapshot has no file ${file}.`);
  return entry;
}

/** Pieces that lie this near are read by one request. */
const gapBytes = 64 * 1024;
const runBytes = 1024 * 1024;

async function contentsOf({ place }: Snapshot, pieces: readonly Piece[]): Promise<[Piece, Buffer][]> {
  const runs: Piece[][] = [];
  for (const piece of pieces) {
    const run = runs.at(-1);
    const [first, last] = [run?.[0], run?.at(-1)];
    const isNear = first && last && piece.offset - last.end <= gapBytes && piece.end - first.offset <= runBytes;
    if (run && isNear) run.push(piece);
    else runs.push([piece]);
  }
  const read = runs.map(async (run): Promise<[Piece, Buffer][]> => {
    const from = run[0]?.offset ?? 0;
    const bytes = await readStream(place, "content", from, run.at(-1)?.end ?? from);
    return run.map((piece) => [piece, bytes.subarray(piece.offset - from, piece.end - from)]);
  });
  return (await Promise.all(read)).flat();
}

function* matchesIn(piece: Piece, text: string, matcher: LineMatcher, after: number): Generator<Match> {
  if (!matcher.mayMatch(text)) return;
  const lines = text.split("\n");
  // What follows the last line's end is no line, and what doesn't end with \n doesn't end with \r\n.
  const ended = lines.length - 1;
  if (lines.at(-1) === "") lines.pop();
  for (const [index, whole] of lines.entries()) {
    const number = piece.line + index;
    if (number <= after) continue;
    const line = whole.endsWith("\r") && index < ended ? whole.slice(0, -1) : whole;
    const at = matcher.indexIn(line);
    if (at < 0) continue;
    const startByte = Buffer.byteLength(line.slice(0, at));
    yield { path: piece.path, line: number, startByte, excerpt: excerpt(line, at) };
  }
}
