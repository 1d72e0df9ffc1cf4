import { eachTrigram, encodePostings, fences, groupOf, trigramRecord } from "../../functions/_repositories/trigrams.ts";

const trigramCount = 1 << 24;

/** Gathers which segments hold which trigrams; 4 bytes for each pair, and twice that at the end. */
export class PostingLists {
  /** Of each segment, in order: its trigrams, each once. */
  readonly #segments: Uint32Array[] = [];
  readonly #counts = new Uint32Array(trigramCount);
  /** The segment that a trigram was last seen in, from 1. */
  readonly #seen = new Uint32Array(trigramCount);

  /** Takes the next segment's folded text. */
  add(folded: Uint8Array): void {
    const number = this.#segments.length + 1;
    const found: number[] = [];
    eachTrigram(folded, (trigram) => {
      if (this.#seen[trigram] === number) return;
      this.#seen[trigram] = number;
      this.#counts[trigram] = (this.#counts[trigram] ?? 0) + 1;
      found.push(trigram);
    });
    this.#segments.push(Uint32Array.from(found));
  }

  /** The index in the order of trigrams. */
  finish(postings: (bytes: Uint8Array) => void): { fences: Buffer; records: Buffer[] } {
    const { ends, segments } = this.#byTrigram();
    const firsts: number[] = [];
    const records: Buffer[] = [];
    let [from, offset] = [0, 0];
    for (let trigram = 0; trigram < trigramCount; trigram++) {
      while (firsts.length <= groupOf(trigram)) firsts.push(records.length);
      const to = ends[trigram] ?? 0;
      if (to === from) continue;
      const bytes = encodePostings(segments.subarray(from, to));
      records.push(trigramRecord(trigram, { offset, bytes: bytes.length }));
      postings(bytes);
      offset += bytes.length;
      from = to;
    }
    return { fences: fences([...firsts, records.length]), records };
  }

  /** Counting sort: segment numbers by trigram, ascending in each, and where each trigram's end. */
  #byTrigram(): { ends: Float64Array; segments: Uint32Array } {
    const ends = new Float64Array(trigramCount);
    let sum = 0;
    for (let trigram = 0; trigram < trigramCount; trigram++) {
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
