import { partBytes } from "../../functions/_repositories/objects.ts";

/** Cuts a stream of bytes into parts, and puts each when it is full; at most four at a time. */
export class StreamWriter {
  readonly #put: (part: number, bytes: Buffer) => Promise<void>;
  readonly #putting = new Set<Promise<void>>();
  #pieces: Uint8Array[] = [];
  #pending = 0;
  #parts = 0;

  constructor(put: (part: number, bytes: Buffer) => Promise<void>) {
    this.#put = put;
  }

  /** Bytes that were appended so far. */
  get length(): number {
    return this.#parts * partBytes + this.#pending;
  }

  append(bytes: Uint8Array): void {
    for (let rest = bytes; rest.length > 0; ) {
      const piece = rest.subarray(0, partBytes - this.#pending);
      this.#pieces.push(piece);
      this.#pending += piece.length;
      rest = rest.subarray(piece.length);
      if (this.#pending === partBytes) this.#flush();
    }
  }

  /** Resolves when there is room for more. @throws {unknown} whatever went wrong with a part */
  async room(most = 4): Promise<void> {
    while (this.#putting.size > most) await Promise.race(this.#putting);
  }

  /** Puts what is left; resolves when all is there. */
  async finish(): Promise<void> {
    if (this.#pending > 0) this.#flush();
    await Promise.all(this.#putting);
  }

  #flush(): void {
    const bytes = Buffer.concat(this.#pieces);
    const putting = this.#put(this.#parts, bytes).then(() => {
      this.#putting.delete(putting);
    });
    // A failure is met by room() or finish(), and must not end the process before.
    putting.catch(() => {});
    this.#putting.add(putting);
    this.#pieces = [];
    this.#pending = 0;
    this.#parts += 1;
  }
}
