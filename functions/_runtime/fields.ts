import * as z from "zod";
import { limits } from "./limits.ts";

/**
 * The vocabulary of contract fields. Only what JSON Schema can say stands here; what it can't is named by
 * `x-text` (read by `input.ts`, stripped from every emitted schema):
 * - `name`: one line, compared after NFC, no invisible characters, no space at its ends;
 * - `text`: any well-formed text.
 */
const line = (max: number) => z.string().max(max).meta({ "x-text": "name" });

/** An agent's name in a request. Not held to the name pattern: a wrong one gets near matches, not a schema error. */
export const agentName = (description: string) => z.string().max(200).describe(description);
export const sessionId = (description: string) => line(128).min(1).meta({ "x-text": "name", description });
export const userName = (description: string) => line(128).min(1).meta({ "x-text": "name", description });
/** Project and task names, in any script. */
export const title = (description: string) => line(200).meta({ "x-text": "name", description });
/** Markdown or plain text; its limit counts UTF-8 bytes and is enforced by `assertTexts`. */
export const text = (description: string) =>
  z.string().max(limits.contentBytes).meta({ "x-text": "text", description });
/** An id that this system gave out. */
export const id = (description: string) => z.string().max(200).describe(description);
/** Where a list goes on: what one page answers is what the next one is asked with. */
export const cursor = z
  .string()
  .max(1024)
  .default("")
  .describe("next_cursor of the page before; empty for the first page.");
export const nextCursor = z
  .string()
  .default("")
  .describe("Give it as cursor to get the next page; empty on the last page.");
export const deadlineS = (description: string) => z.int().min(1).max(2_592_000).optional().describe(description);

/** A file that a requester names: all of its fields are optional (seed 000). */
export const requestedFile = z.strictObject({
  name: title("File name.").optional(),
  demand: text("What the file must be like; Markdown is allowed.").optional(),
  file: z
    .string()
    .max(1024)
    .meta({ "x-text": "name", description: "Path of the file to change, or where the result is to be saved." })
    .optional(),
});
export type RequestedFile = z.output<typeof requestedFile>;

export const requestedFiles = (description: string) =>
  z.array(requestedFile).max(limits.fileEntries).describe(description);
/** Files that an agent hands back: plain paths or links. */
export const returnedFiles = (description: string) =>
  z.array(z.string().max(2048)).max(limits.fileEntries).describe(description);

/** Marks a return as `required` in the seed's own document (returns carry `required` beside `default` there). */
export const seedRequired = <S extends z.ZodType>(schema: S): S =>
  schema.meta({ ...schema.meta(), "x-seed-required": true }) as S;

/** The head of every agent tool's output (seeds 000, 001, 003). */
export const envelope = {
  code: z.number().default(0).describe("Status code: 0 when done, otherwise the HTTP status."),
  msg: z.string().default("").describe("What happened, in one sentence."),
};
