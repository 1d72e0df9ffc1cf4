import { createHash } from "node:crypto";
import * as z from "zod";
import { ToolError } from "../_runtime/errors.ts";

/** Where a search goes on: in this segment of this snapshot, behind this line. */
export interface Position {
  snapshot: string;
  segment: number;
  /** Lines up to this one are done; 0 for none. */
  line: number;
}

/** `of` tells the search by all that decides what it finds, so that no cursor goes on with another. */
const cursor = z.tuple([z.string(), z.string(), z.int().min(0), z.int().min(0)]);

const digest = (asked: readonly unknown[]) =>
  createHash("sha256").update(JSON.stringify(asked)).digest("base64url").slice(0, 12);

export const writeCursor = (asked: readonly unknown[], { snapshot, segment, line }: Position): string =>
  Buffer.from(JSON.stringify([digest(asked), snapshot, segment, line])).toString("base64url");

/** Undefined for the first page. @throws {ToolError} INVALID_CURSOR */
export function readCursor(asked: readonly unknown[], text: string): Position | undefined {
  if (text === "") return undefined;
  const parsed = cursor.safeParse(jsonOf(text));
  if (!parsed.success || parsed.data[0] !== digest(asked)) throw invalidCursor();
  const [, snapshot, segment, line] = parsed.data;
  return { snapshot, segment, line };
}

export const invalidCursor = () =>
  new ToolError(
    "INVALID_CURSOR",
    "The cursor is not one that search_code gave out for this search, or its snapshot is gone.",
  );

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, "base64url").toString());
  } catch {
    return undefined; // Not one of ours, which the caller says.
  }
}
