import { type FileEntry, fileBlockBytes, fileLine, type Root } from "../../functions/_repositories/files.ts";
import { partKey, rootKey, type SnapshotPlace, type StreamName } from "../../functions/_repositories/objects.ts";
import { cut, segmentRecord } from "../../functions/_repositories/segments.ts";
import { fold } from "../../functions/_repositories/trigrams.ts";
import { OperatorError } from "../arguments.ts";
import { PostingLists } from "./posting_lists.ts";
import { StreamWriter } from "./stream_writer.ts";
import type { Tree, TreeFile } from "./tree.ts";

/** What the search index of a repository is made for; more text takes more memory than an operator's machine may have. */
const mostTextBytes = 1024 * 1024 * 1024;

export interface Built {
  files: number;
  /** Files of which only the name is kept. */
  binary: number;
  large: number;
  bytes: number;
  segments: number;
}

/** Writes the objects of one snapshot, the root last. `put` stores an object. */
export class SnapshotBuilder {
  readonly #place: SnapshotPlace;
  readonly #put: (key: string, bytes: Uint8Array) => Promise<void>;
  readonly #streams = new Map<StreamName, StreamWriter>();
  readonly #lists = new PostingLists();
  readonly #blocks: Root["blocks"] = [];
  readonly #built: Built = { files: 0, binary: 0, large: 0, bytes: 0, segments: 0 };

  constructor(place: SnapshotPlace, put: (key: string, bytes: Uint8Array) => Promise<void>) {
    this.#place = place;
    this.#put = put;
  }

  /** @throws {OperatorError} when the tree holds too much text */
  async build(tree: Tree): Promise<Built> {
    for await (const [file, bytes] of readAhead(tree.files)) {
      if (bytes === undefined) {
        tree.skipped.push(`${file.path}: a symbolic link, or no file any more`);
        continue;
      }
      this.#add(file.path, bytes);
      if (this.#built.bytes > mostTextBytes) {
        throw new OperatorError(
          "The tree holds more than 1 GiB of text. Sync a part of it, or ignore what nobody reads.",
        );
      }
      await this.#stream("content").room();
    }
    await this.#finish();
    return this.#built;
  }

  #add(path: string, bytes: Uint8Array | "large"): void {
    const content = this.#stream("content");
    const text = bytes === "large" ? undefined : decoded(bytes);
    const entry: FileEntry = {
      path,
      kind: bytes === "large" ? "large" : text === undefined ? "binary" : "text",
      size: bytes === "large" ? 0 : bytes.length,
      offset: content.length,
      lines: 0,
      lineEnding: "none",
      firstSegment: this.#built.segments,
      segments: 0,
    };
    if (bytes !== "large" && text !== undefined) {
      Object.assign(entry, linesOf(bytes));
      entry.segments = this.#addSegments(bytes, content.length);
      content.append(bytes);
      this.#built.bytes += bytes.length;
    } else this.#built[entry.kind === "large" ? "large" : "binary"] += 1;
    this.#addEntry(entry);
  }

  #addSegments(bytes: Uint8Array, offset: number): number {
    const cuts = cut(bytes);
    for (const [index, { at, line }] of cuts.entries()) {
      this.#stream("segments").append(segmentRecord({ offset: offset + at, line, file: this.#built.files }));
      const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8", at, cuts[index + 1]?.at);
      this.#lists.add(Buffer.from(fold(text)));
    }
    this.#built.segments += cuts.length;
    return cuts.length;
  }

  #addEntry(entry: FileEntry): void {
    const files = this.#stream("files");
    const [, , begin] = this.#blocks.at(-1) ?? [];
    if (begin === undefined || files.length - begin >= fileBlockBytes) {
      this.#blocks.push([entry.path, this.#built.files, files.length]);
    }
    files.append(Buffer.from(fileLine(entry)));
    this.#built.files += 1;
  }

  async #finish(): Promise<void> {
    const { fences, records } = this.#lists.finish((bytes) => this.#stream("postings").append(bytes));
    for (const bytes of [fences, ...records]) this.#stream("trigrams").append(bytes);
    await Promise.all([...this.#streams.values()].map((stream) => stream.finish()));
    const root: Root = {
      format: 1,
      files: this.#built.files,
      segments: this.#built.segments,
      contentBytes: this.#stream("content").length,
      filesBytes: this.#stream("files").length,
      blocks: this.#blocks,
    };
    await this.#put(rootKey(this.#place), Buffer.from(JSON.stringify(root)));
  }

  #stream(name: StreamName): StreamWriter {
    const known = this.#streams.get(name);
    if (known !== undefined) return known;
    const stream = new StreamWriter((part, bytes) => this.#put(partKey(this.#place, name, part), bytes));
    this.#streams.set(name, stream);
    return stream;
  }
}

/** Text is UTF-8 without NUL, the whole file: a sample that ends within a character would tell nothing. */
function decoded(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined; // Not UTF-8: that is the answer, not a fault.
  }
}

/** Only \n and \r\n end a line, and what follows the last end is a line unless it is empty. */
function linesOf(bytes: Uint8Array): Pick<FileEntry, "lines" | "lineEnding"> {
  let [ends, withReturn] = [0, 0];
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) {
    ends += 1;
    if (bytes[at - 1] === 13) withReturn += 1;
  }
  const lines = ends + (bytes.length > 0 && bytes.at(-1) !== 10 ? 1 : 0);
  const lineEnding = ends === 0 ? "none" : withReturn === 0 ? "lf" : withReturn === ends ? "crlf" : "mixed";
  return { lines, lineEnding };
}

/** Reads some files ahead of the one that is worked on, and answers them in order. */
async function* readAhead(files: readonly TreeFile[]) {
  const ahead = 8;
  const queue: Promise<readonly [TreeFile, Awaited<ReturnType<TreeFile["read"]>>]>[] = [];
  for (const file of files) {
    const read = file.read().then((bytes) => [file, bytes] as const);
    read.catch(() => {}); // Met when its turn comes.
    queue.push(read);
    const next = queue.length > ahead ? queue.shift() : undefined;
    if (next !== undefined) yield await next;
  }
  for (const read of queue) yield await read;
}
