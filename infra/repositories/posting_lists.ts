import { eachTrigram, encodePostings, fences, groupOf, trigramRecord } from "../../functions/_repositories/trigrams.ts";

const trigramCount = 1 << 24;

/**
 * Gathers which segments hold which trigrams: 4 bytes for each pair, and as much again at the end. The tables over
 * all trigrams cost memory only where a trigram occurs.
 */
export class PostingLists {
  /** Of each segment, in order: its trigrams, each once. */
  readonly #segments: Uint32Array[] = [];
  /** In how many segments each occurs. */
  readonly #counts = new Uint32Array(trigramCount);
  /** The segment that each was last seen in, from 1. */
  readonly #seen = new Uint32Array(trigramCount);
  /** Those that occur. */
  readonly #present: number[] = [];

  /** Takes the next segment's folded text. */
  add(folded: Uint8Array): void {
    const number = this.#segments.length + 1;
    const found: number[] = [];
    eachTrigram(folded, (trigram) => {
      if (this.#seen[trigram] === number) return;
      if (this.#seen[trigram] === 0) this.#present.push(trigram);
      this.#seen[trigram] = number;
      this.#counts[trigram] = (this.#counts[trigram] ?? 0) + 1;
      found.push(trigram);
    });
    this.#segments.push(Uint32Array.from(found));
  }

  /** Hands over the postings in the order of trigrams; answers where they are. */
  finish(postings: (bytes: Uint8Array) => void): { fences: Buffer; records: Buffer[] } {
    const { ends, segments } = this.#byTrigram();
    const firsts: number[] = [];
    const records: Buffer[] = [];
    let [from, offset] = [0, 0];
    for (const trigram of this.#present) {
      while (firsts.length <= groupOf(trigram)) firsts.push(records.length);
      const to = ends[trigram] ?? from;
      const bytes = encodePostings(segments.subarray(from, to));
      records.push(trigramRecord(trigram, { offset, bytes: bytes.length }));
      postings(bytes);
      offset += bytes.length;
      from = to;
    }
    return { fences: fences(firsts, records.length), records };
  }

  /** Counting sort: segment numbers by trigram, ascending in each, and where each trigram's end. */
  #byTrigram(): { ends: Float64Array; segments: Uint32Array } {
    const ends = new Float64Array(trigramCount);
    let sum = 0;
    for (const trigram of this.#present.sort((a, b) => a - b)) {
      ends[trigram] = sum;
      sum += this.#counts[trigram] ?? 0;
    }
    const segments = new Uint32Array(sum);
    for (const [segment, trigrams] of this.#segments.entries()) {
      for (const trigram of trigrams) {
        const at = ends[trigram] ?? 0;
        segments[at] = segment;
        ends[trigram] = at + 1;
      }
    }
    return { ends, segments };
  }
}
