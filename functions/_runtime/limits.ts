import { ToolError } from "./errors.ts";

/** The stated limits (design, section 6), in UTF-8 bytes where they count bytes. */
export const limits = {
  requestBytes: 512 * 1024,
  contentBytes: 64 * 1024,
  filesBytes: 64 * 1024,
  fileEntries: 100,
  tasksPerAssignment: 40,
  /** What a schedule assigns, as JSON: it is one record, and DynamoDB takes 400 KB. */
  scheduledBytes: 256 * 1024,
  inboxItemsPerSession: 64,
  callDepth: 8,
  messagesPerReceive: 10,
  leases: 5,
  leaseMs: 5 * 60_000,
  /** Of the 6 MB that Lambda passes on, as `answerSize` counts. */
  answerBytes: 5 * 1024 * 1024,
} as const;

/** Bytes that a part of an answer takes on its way out: the body is JSON, and goes as a string inside JSON. */
export const answerSize = (part: unknown) => Buffer.byteLength(JSON.stringify(JSON.stringify(part)));

/** @throws {ToolError} CONTENT_TOO_LARGE when `text` is over `max` UTF-8 bytes. */
export function assertBytes(field: string, text: string, max: number): void {
  const bytes = Buffer.byteLength(text);
  if (bytes <= max) return;
  throw new ToolError("CONTENT_TOO_LARGE", `${field} has ${bytes} bytes in UTF-8, more than the ${max} allowed.`, {
    details: { field, bytes, max },
  });
}

/** Checks a message's text and file list. @throws {ToolError} CONTENT_TOO_LARGE */
export function assertTexts(content: string, files: readonly unknown[], field = "content"): void {
  assertBytes(field, content, limits.contentBytes);
  assertBytes("files", JSON.stringify(files), limits.filesBytes);
}
