import type { Snapshot } from "./files.ts";
import { readStream, remember, rootKey, type SnapshotPlace } from "./objects.ts";

/*
 * A text is cut into segments of whole lines: a line begins a new one when 32 KiB have gone by since the last.
 * They serve twice: as the sparse line index (a line is at most 32 KiB behind the beginning of its segment, however
 * large the file), and as what the search index counts (a match lies in one line, so in one segment).
 */
export const segmentBytes = 32 * 1024;

export interface Segment {
  /** Where it begins in the content stream. */
  offset: number;
  /** Its first line, from 1. */
  line: number;
  /** Number of its file, in the order of paths. */
  file: number;
}

const recordBytes = 14;

export function segmentRecord({ offset, line, file }: Segment): Buffer {
  const record = Buffer.alloc(recordBytes);
  record.writeUIntLE(offset, 0, 6);
  record.writeUInt32LE(line, 6);
  record.writeUInt32LE(file, 10);
  return record;
}

/** Segments `first` up to `end` by number: records of one size, so a small ranged read finds any of them. */
export async function readSegments(place: SnapshotPlace, first: number, end: number): Promise<Segment[]> {
  const bytes = await remember(`${rootKey(place)} segments ${first} ${end}`, () =>
    readStream(place, "segments", first * recordBytes, Math.max(first, end) * recordBytes),
  );
  return Array.from({ length: bytes.length / recordBytes }, (_, index) => {
    const at = index * recordBytes;
    return {
      offset: bytes.readUIntLE(at, 6),
      line: bytes.readUInt32LE(at + 6),
      file: bytes.readUInt32LE(at + 10),
    };
  });
}

/** Positions in a text at which its segments begin, each with the number of its line. */
export function cut(text: Uint8Array): { at: number; line: number }[] {
  const cuts = text.length === 0 ? [] : [{ at: 0, line: 1 }];
  let line = 1;
  let begin = 0;
  for (let end = text.indexOf(10); end >= 0 && end + 1 < text.length; end = text.indexOf(10, end + 1)) {
    line += 1;
    if (end + 1 - begin < segmentBytes) continue;
    begin = end + 1;
    cuts.push({ at: begin, line });
  }
  return cuts;
}

/** Records of the segments stream that are read at once. */
const blockRecords = 1024;

/** Segments by number, ascending, each with where it ends: where the next one begins, since texts lie side by side. */
export async function numberedSegments(
  { place, segments, contentBytes }: Snapshot,
  numbers: readonly number[],
): Promise<[number: number, segment: Segment, end: number][]> {
  const wanted = new Set(
    numbers.flatMap((number) => [number, number + 1]).map((number) => Math.floor(number / blockRecords)),
  );
  const blocks = new Map(
    await Promise.all(
      [...wanted].map(async (block) => {
        const from = block * blockRecords;
        const end = Math.min(from + blockRecords, segments);
        return [block, await readSegments(place, from, end)] as const;
      }),
    ),
  );
  const at = (number: number) => {
    const record = blocks.get(Math.floor(number / blockRecords))?.[number % blockRecords];
    return number < segments ? record : undefined;
  };
  return numbers.flatMap((number) => {
    const segment = at(number);
    return segment === undefined ? [] : [[number, segment, at(number + 1)?.offset ?? contentBytes]];
  });
}
