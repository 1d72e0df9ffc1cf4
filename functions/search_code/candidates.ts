import type { SnapshotPlace } from "../_repositories/objects.ts";
import { eachTrigram, fold, locate, readPostings } from "../_repositories/trigrams.ts";
import type { Need } from "./needed_text.ts";

/** So many different trigrams of one text are looked up; more would hardly tell more. */
const mostTrigrams = 32;
/** Lists of postings are read from the shortest on, until so few segments are left … */
const fewSegments = 16;
/** … or the next list would cost more than reading them. */
const mostPostingBytes = 64 * 1024;
/** Beyond so many alternatives the index is not asked. */
const mostAlternatives = 16;

/**
 * The segments that may hold a match, ascending: all that do, and few others. Undefined when the index can't tell,
 * because there is no fixed text of three bytes.
 */
export async function candidates(place: SnapshotPlace, need: Need): Promise<number[] | undefined> {
  if ("text" in need) return withText(place, need.text);
  if ("all" in need) {
    const known = (await Promise.all(need.all.map((each) => candidates(place, each)))).filter(
      (each) => each !== undefined,
    );
    return known.length === 0 ? undefined : known.reduce(intersection);
  }
  if (need.any.length > mostAlternatives) return undefined;
  const all = await Promise.all(need.any.map((each) => candidates(place, each)));
  const found = all.filter((each) => each !== undefined);
  return found.length < all.length ? undefined : [...new Set(found.flat())].sort((a, b) => a - b);
}

async function withText(place: SnapshotPlace, text: string): Promise<number[] | undefined> {
  const trigrams = new Set<number>();
  eachTrigram(Buffer.from(fold(text)), (trigram) => {
    if (trigrams.size < mostTrigrams) trigrams.add(trigram);
  });
  if (trigrams.size === 0) return undefined;
  const places = await locate(place, [...trigrams]);
  const found = places.filter((each) => each !== undefined);
  if (found.length < places.length) return [];
  const [shortest, ...others] = found.sort((a, b) => a.bytes - b.bytes);
  let left = shortest === undefined ? [] : await readPostings(place, shortest);
  for (const next of others) {
    if (left.length <= fewSegments || next.bytes > mostPostingBytes) break;
    left = intersection(left, await readPostings(place, next));
  }
  return left;
}

function intersection(some: readonly number[], others: readonly number[]): number[] {
  const among = new Set(others);
  return some.filter((segment) => among.has(segment));
}
