import { type FileEntry, lastIndex } from "../_repositories/files.ts";
import { readStream, type SnapshotPlace } from "../_repositories/objects.ts";
import { readSegments, segmentBytes } from "../_repositories/segments.ts";
import { ToolError } from "../_runtime/errors.ts";
import { mostContentBytes } from "./contract.ts";

/** Lines of a file, the first without its first bytes. */
export interface Range {
  startLine: number;
  endLine: number;
  startByte: number;
}

interface Lines {
  content: string;
  /** The last line that content holds, at least in part. */
  endLine: number;
  /** Where the rest begins, when content ends before the range does. */
  next: { line: number; byte: number } | undefined;
}

const [lineFeed, carriageReturn] = [10, 13];

/**
 * Reads lines by one small read of the line index (none for a small file) and one ranged read of at most 100 KiB of
 * the content, wherever in however large a file they are. Far inside of a very long line it is two.
 * @param range lines that the file has
 * @throws {ToolError} INVALID_RANGE when startByte lies in no character of the line
 */
export async function readLines(place: SnapshotPlace, file: FileEntry, range: Range): Promise<Lines> {
  if (file.lines === 0) return { content: "", endLine: 0, next: undefined };
  const { from, lineUntil, until, firstLine } = await around(place, file, range);
  const window = await readStream(place, "content", from, Math.min(until, from + segmentBytes + mostContentBytes));
  const lineAt = skipLines(window, range.startLine - firstLine);
  const at = lineAt + range.startByte;
  assertInLine(window, lineAt, at, from + at < lineUntil, range);
  const isInside = at + mostContentBytes <= window.length || from + window.length === until;
  const bytes = isInside
    ? window.subarray(at, at + mostContentBytes)
    : await readStream(place, "content", from + at, Math.min(until, from + at + mostContentBytes));
  assertCharacter(bytes, range);
  return taken(bytes, range, from + at + bytes.length === until);
}

/** Where the segment begins and ends that holds the first line, and where the one ends that holds the last. */
async function around(place: SnapshotPlace, file: FileEntry, { startLine, endLine }: Range) {
  const end = file.offset + file.size;
  if (file.segments === 1) return { from: file.offset, lineUntil: end, until: end, firstLine: 1 };
  const segments = await readSegments(place, file.firstSegment, file.firstSegment + file.segments);
  const at = lastIndex(segments, ({ line }) => line <= startLine);
  const after = lastIndex(segments, ({ line }) => line <= endLine) + 1;
  return {
    from: segments[at]?.offset ?? file.offset,
    lineUntil: segments[at + 1]?.offset ?? end,
    until: segments[after]?.offset ?? end,
    firstLine: segments[at]?.line ?? 1,
  };
}

/** Where the line begins that is `count` lines further. */
function skipLines(bytes: Buffer, count: number): number {
  let at = 0;
  for (let skipped = 0; skipped < count; skipped++) at = bytes.indexOf(lineFeed, at) + 1;
  return at;
}

function assertInLine(window: Buffer, lineAt: number, at: number, isInText: boolean, range: Range): void {
  const end = window.indexOf(lineFeed, lineAt);
  if (range.startByte === 0 || (isInText && (end < 0 || at <= end))) return;
  throw new ToolError("INVALID_RANGE", `Line ${range.startLine} has no ${range.startByte} bytes.`, {
    hint: "Leave startByte out to read the line from its beginning.",
  });
}

function assertCharacter(bytes: Buffer, { startLine, startByte }: Range): void {
  if (startByte === 0 || !isContinuation(bytes[0])) return;
  throw new ToolError("INVALID_RANGE", `Byte ${startByte} of line ${startLine} is inside of a character.`, {
    hint: "Use nextStartByte or startByte exactly as it was answered.",
  });
}

/** Of UTF-8: every byte of a character but its first. */
const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80;

/** As many whole lines as fit; of a line that fits alone no more, as many whole characters. */
function taken(bytes: Buffer, { startLine, endLine, startByte }: Range, reachesEnd: boolean): Lines {
  let [line, end] = [startLine, 0];
  for (; line <= endLine; line++) {
    const feed = bytes.indexOf(lineFeed, end);
    if (feed < 0) break;
    end = feed + 1;
  }
  if (line > endLine) return { content: text(bytes.subarray(0, end)), endLine, next: undefined };
  // The last line of the file, which has no end.
  if (reachesEnd) return { content: text(bytes), endLine, next: undefined };
  if (end > 0) return { content: text(bytes.subarray(0, end)), endLine: line - 1, next: { line, byte: 0 } };
  const cut = characterEnd(bytes);
  return { content: text(bytes.subarray(0, cut)), endLine: line, next: { line, byte: startByte + cut } };
}

/** Where the last whole character ends; \r\n is one. */
function characterEnd(bytes: Buffer): number {
  let end = bytes.length;
  while (end > 1 && isContinuation(bytes[end - 1])) end -= 1;
  const whole = new TextDecoder("utf-8", { fatal: true });
  try {
    whole.decode(bytes.subarray(end - 1));
    end = bytes.length;
  } catch {
    end -= 1; // The last character is cut.
  }
  return bytes[end - 1] === carriageReturn ? end - 1 : end;
}

const text = (bytes: Buffer) => bytes.toString("utf8").replaceAll("\r\n", "\n");
