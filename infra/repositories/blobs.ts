import type { ChildProcessByStdio } from "node:child_process";
import type { Readable, Writable } from "node:stream";

type CatFile = ChildProcessByStdio<Writable, Readable, null>;

/** Reads objects from a `git cat-file --batch`, one after another. */
export class BlobReader {
  readonly #process: CatFile;
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);
  #last: Promise<unknown> = Promise.resolve();

  constructor(process: CatFile) {
    this.#process = process;
    this.#chunks = process.stdout[Symbol.asyncIterator]();
  }

  /** Answers come in the order of the questions, so each read waits for the one before. */
  read(object: string, most: number): Promise<Uint8Array | "large"> {
    const answer = this.#last.then(() => this.#read(object, most));
    this.#last = answer.catch(() => {});
    return answer;
  }

  close(): void {
    this.#process.stdin.end();
  }

  async #read(object: string, most: number): Promise<Uint8Array | "large"> {
    this.#process.stdin.write(`${object}\n`);
    while (!this.#rest.includes(10)) await this.#more();
    const end = this.#rest.indexOf(10);
    const header = this.#rest.subarray(0, end).toString();
    const [, size] = /^[0-9a-f]+ blob (\d+)$/.exec(header) ?? [];
    if (size === undefined) throw new Error(`git cat-file: ${header}`);
    this.#rest = this.#rest.subarray(end + 1);
    const bytes = await this.#take(Number(size), most);
    await this.#take(1, 1);
    return bytes;
  }

  /** The next `size` bytes; more than `most` are read over. */
  async #take(size: number, most: number): Promise<Uint8Array | "large"> {
    const pieces: Buffer[] = [];
    for (let missing = size; missing > 0; ) {
      if (this.#rest.length === 0) await this.#more();
      const piece = this.#rest.subarray(0, missing);
      this.#rest = this.#rest.subarray(piece.length);
      missing -= piece.length;
      if (size <= most) pieces.push(piece);
    }
    return size <= most ? Buffer.concat(pieces) : "large";
  }

  async #more(): Promise<void> {
    const { done, value } = await this.#chunks.next();
    if (done) throw new Error("git cat-file ended too early.");
    this.#rest = this.#rest.length === 0 ? value : Buffer.concat([this.#rest, value]);
  }
}
