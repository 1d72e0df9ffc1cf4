import { readStream, remember, rootKey, type SnapshotPlace } from "./objects.ts";

/*
 * The search index: for every three bytes that occur in a segment's folded text, the numbers of the segments that
 * hold them. A text can only lie in segments that hold all of its trigrams; whether it does is seen in the content.
 *
 * trigrams: 4097 record numbers (where the records of each upper 12 bits begin), then a record for each trigram
 * postings: for each trigram the numbers of its segments, ascending, as differences in LEB128
 */

/**
 * Upper and lower case, and whatever else a case-insensitive pattern takes for the same letter, become one; applied
 * to a part of a text it gives that part of the folded text. Upper case in between, since ſ and the Kelvin sign have
 * another one than their own lower case; twice lower, since ẞ has no upper case but ß has (SS). Σ is ς only at a
 * word's end, so both become σ.
 */
export function fold(text: string): string {
  if (/^[\0-\x7f]*$/.test(text)) return text.toLowerCase();
  return text.toLowerCase().toUpperCase().toLowerCase().replaceAll("ς", "σ");
}

const lineFeed = 10;

/** Visits the trigrams of a folded text, one after another with repetitions; none reaches over a line's end. */
export function eachTrigram(folded: Uint8Array, visit: (trigram: number) => void): void {
  let trigram = 0;
  let length = 0;
  for (const byte of folded) {
    trigram = ((trigram << 8) | byte) & 0xffffff;
    length = byte === lineFeed ? 0 : length + 1;
    if (length >= 3) visit(trigram);
  }
}

const groups = 4096;
export const groupOf = (trigram: number) => trigram >>> 12;
const fenceBytes = 4;
const recordBytes = 12;

/** Where a trigram's postings are. */
interface PostingsPlace {
  offset: number;
  bytes: number;
}

export function trigramRecord(trigram: number, { offset, bytes }: PostingsPlace): Buffer {
  const record = Buffer.alloc(recordBytes);
  record.writeUInt16LE(trigram & 0xfff, 0);
  record.writeUIntLE(offset, 2, 6);
  record.writeUInt32LE(bytes, 8);
  return record;
}

/**
 * @param firsts for each upper 12 bits, from 0 on, the number of its first record; those that are left have none
 * @param records how many records there are
 */
export function fences(firsts: readonly number[], records: number): Buffer {
  const bytes = Buffer.alloc((groups + 1) * fenceBytes);
  for (let group = 0; group <= groups; group++) bytes.writeUInt32LE(firsts[group] ?? records, group * fenceBytes);
  return bytes;
}

/** The postings of each trigram, in the order asked; undefined for one that occurs nowhere. */
export async function locate(
  place: SnapshotPlace,
  trigrams: readonly number[],
): Promise<(PostingsPlace | undefined)[]> {
  const head = await remember(`${rootKey(place)} fences`, () =>
    readStream(place, "trigrams", 0, (groups + 1) * fenceBytes),
  );
  const wanted = [...new Set(trigrams.map(groupOf))];
  const records = new Map(
    await Promise.all(
      wanted.map(async (group) => {
        const [first, end] = [0, 1].map((next) => head.readUInt32LE((group + next) * fenceBytes)) as [number, number];
        const at = (record: number) => head.length + record * recordBytes;
        const name = `${rootKey(place)} trigrams ${group}`;
        return [group, await remember(name, () => readStream(place, "trigrams", at(first), at(end)))] as const;
      }),
    ),
  );
  return trigrams.map((trigram) => find(records.get(groupOf(trigram)) ?? Buffer.alloc(0), trigram & 0xfff));
}

function find(records: Buffer, lower: number): PostingsPlace | undefined {
  for (let at = 0; at < records.length; at += recordBytes) {
    if (records.readUInt16LE(at) === lower) {
      return { offset: records.readUIntLE(at + 2, 6), bytes: records.readUInt32LE(at + 8) };
    }
  }
  return undefined;
}

/** The numbers of the segments that hold a trigram, ascending. */
export async function readPostings(place: SnapshotPlace, { offset, bytes }: PostingsPlace): Promise<number[]> {
  return decodePostings(await readStream(place, "postings", offset, offset + bytes));
}

/** @param segments ascending */
export function encodePostings(segments: Iterable<number>): Buffer {
  const bytes: number[] = [];
  let last = -1;
  for (const segment of segments) {
    let difference = segment - last;
    last = segment;
    for (; difference >= 0x80; difference >>>= 7) bytes.push((difference & 0x7f) | 0x80);
    bytes.push(difference);
  }
  return Buffer.from(bytes);
}

export function decodePostings(bytes: Uint8Array): number[] {
  const segments: number[] = [];
  let [last, difference, shift] = [-1, 0, 0];
  for (const byte of bytes) {
    difference |= (byte & 0x7f) << shift;
    shift += 7;
    if (byte >= 0x80) continue;
    last += difference;
    segments.push(last);
    [difference, shift] = [0, 0];
  }
  return segments;
}
