import { closest, distance } from "fastest-levenshtein";
import { blockAround, type FileEntry, findFile, readBlock, type Snapshot } from "../_repositories/files.ts";
import { permitted, reading } from "../_repositories/permitted.ts";
import { sourceRef } from "../_repositories/source_ref.ts";
import { ToolError } from "../_runtime/errors.ts";
import { serve } from "../_runtime/serve.ts";
import { contract, mostLines } from "./contract.ts";
import { type Range, readLines } from "./lines.ts";

export const handler = serve(contract, async (input, { principal }) => {
  const repository = await permitted(principal, input.repositoryId);
  return reading(principal, repository, repository.snapshots[0], async (snapshot, commit) => {
    const file = await textFile(snapshot, input.path.normalize("NFC"));
    const range = rangeIn(file, input);
    const { content, endLine, next } = await readLines(snapshot.place, file, range);
    const { repositoryId, startLine } = input;
    return {
      repositoryId,
      path: file.path,
      startLine,
      endLine,
      content,
      truncated: next !== undefined,
      sourceRef: sourceRef(repositoryId, commit, file.path, startLine, endLine),
      totalLines: file.lines,
      lineEnding: file.lineEnding,
      ...(next && { nextStartLine: next.line, nextStartByte: next.byte }),
    };
  });
});

/**
 * Looked up among the names of the snapshot and nowhere else, so that no path leads out of it: `../x`, `/etc/passwd`
 * and a name that nobody has are the same thing here.
 * @throws {ToolError} FILE_NOT_FOUND, FILE_NOT_TEXT
 */
async function textFile(snapshot: Snapshot, path: string): Promise<FileEntry> {
  const file = await findFile(snapshot, path);
  if (file?.kind === "text") return file;
  if (file === undefined) {
    throw new ToolError(
      "FILE_NOT_FOUND",
      "There is no such file in this repository.",
      await suggestion(snapshot, path),
    );
  }
  const reason = file.kind === "large" ? "it is larger than 16 MiB" : "it is binary or not in UTF-8";
  throw new ToolError("FILE_NOT_TEXT", `This file can't be read by lines: ${reason}.`);
}

/** A file with nearly this name, among those that are listed near it. */
async function suggestion(snapshot: Snapshot, path: string): Promise<{ hint?: string }> {
  if (path.length > 300 || snapshot.blocks.length === 0) return {};
  const block = Math.max(0, blockAround(snapshot, path));
  const near = closest(
    path,
    (await readBlock(snapshot, block)).map((file) => file.path),
  );
  return distance(path, near) <= 3 ? { hint: `Did you mean ${near}? Otherwise try search_code first.` } : {};
}

/** The range within the file: past its end means its last line. @throws {ToolError} INVALID_RANGE, RANGE_TOO_LARGE */
function rangeIn({ lines }: FileEntry, { startLine, endLine, startByte }: Range): Range {
  const total = `the file has ${lines} ${lines === 1 ? "line" : "lines"}`;
  const details = { totalLines: lines };
  if (startLine > endLine)
    throw new ToolError("INVALID_RANGE", `startLine ${startLine} is after endLine ${endLine}; ${total}.`, { details });
  // Line 1 of an empty file is empty; it has no other.
  if (startLine > Math.max(lines, 1))
    throw new ToolError("INVALID_RANGE", `There is no line ${startLine}: ${total}.`, { details });
  const last = Math.min(endLine, lines);
  if (last - startLine + 1 > mostLines) {
    throw new ToolError(
      "RANGE_TOO_LARGE",
      `These are ${last - startLine + 1} lines; at most ${mostLines} can be read at once.`,
      {
        details: { ...details, mostLines },
      },
    );
  }
  return { startLine, endLine: last, startByte };
}
