import * as z from "zod";
import type { RequestedFile } from "../_runtime/fields.ts";
import { fold, record as recordKey, text as textKey, textsPrefix } from "./keys.ts";
import { idOf, randomPart } from "./messages.ts";
import { type Item, putAll, queryPrefix, retention } from "./table.ts";

/** The words of a message. */
const body = z.object({ content: z.string() });
const fileList = z.object({ files: z.array(z.custom<RequestedFile>()) });

/** An answer to a message: a call's reply, a task's result or progress. */
const reply = z.object({
  sender: z.string(),
  type: z.string(),
  content: z.string(),
  files: z.array(z.string()),
  received_at: z.number(),
  /** Why it was not taken, for a late or foreign one. */
  refused: z.string().optional(),
});
export type Reply = z.output<typeof reply>;

export const parseBody = (item: Item | undefined) => (item === undefined ? "" : body.parse(item).content);
export const parseFiles = (item: Item | undefined): RequestedFile[] =>
  item === undefined ? [] : fileList.parse(item).files;
export const parseReply = (item: Item | undefined) => item && reply.parse(item);

export const bodyKey = (workspace: string, messageId: string) => textKey(workspace, idOf(messageId), "BODY");
export const filesKey = (workspace: string, messageId: string) => textKey(workspace, idOf(messageId), "FILES");
export const replyKey = (workspace: string, messageId: string, replyId: string) =>
  textKey(workspace, idOf(messageId), `REPLY#${replyId}`);

/** The immutable texts of a new message; files are apart, so that a status reads them without the content. */
export function messageTexts(
  workspace: string,
  messageId: string,
  texts: { content: string; files: readonly RequestedFile[] },
  keepFrom: number,
): Item[] {
  const ttl = retention(keepFrom);
  return [
    { ...bodyKey(workspace, messageId), content: texts.content, ttl },
    ...(texts.files.length > 0 ? [{ ...filesKey(workspace, messageId), files: texts.files, ttl }] : []),
  ];
}

/** Writes an answer's text before what refers to it, to be kept as long as that. Answers its id. */
export async function putReply(
  workspace: string,
  messageId: string,
  text: Omit<Reply, "refused">,
  keepFrom: number,
): Promise<string> {
  const replyId = randomPart();
  await putAll([{ ...replyKey(workspace, messageId, replyId), ...text, ttl: retention(keepFrom) }]);
  return replyId;
}

/**
 * Keeps an answer that did not count on the message's record. The receiver's own come first when they are read;
 * of each other agent only the latest is kept, so that nobody can bury them.
 */
export async function keepRefusedReply(
  workspace: string,
  messageId: string,
  text: Reply,
  from: "receiver" | "other" = "receiver",
): Promise<void> {
  const own = `${new Date(text.received_at).toISOString()}#${randomPart()}`;
  const place = from === "receiver" ? (`LATE#1#${own}` as const) : (`LATE#2#${fold(text.sender)}` as const);
  await putAll([{ ...textKey(workspace, idOf(messageId), place), ...text, ttl: retention(text.received_at) }]);
}

const refusedRepliesShown = 20;

/** Access pattern: answers to a message that did not count: first its receiver's, oldest first, then others'. */
export async function readRefusedReplies(workspace: string, messageId: string): Promise<Reply[]> {
  const id = idOf(messageId);
  const items = await queryPrefix(recordKey(workspace, id).PK, `${textsPrefix(id)}LATE#`, refusedRepliesShown);
  return items.map((item) => reply.parse(item));
}
