import type { RequestedFile } from "../_runtime/fields.ts";
import type { Agent } from "../_table/agents.ts";
import { newItemWrite } from "../_table/inbox.ts";
import { type Facts, newHeadWrite } from "../_table/messages.ts";
import { type Item, transact, type Write } from "../_table/table.ts";
import { messageTexts } from "../_table/texts.ts";
import { sendWakeUps } from "./wake_up.ts";

/** A message on its way in. */
export interface NewMessage {
  facts: Facts & { deadline_at: number; waiting_until?: number };
  receiver: Agent;
}

const wakeUpCheckMs = 60_000;

/** The writes that put a message into its receiver's inbox. */
export function newMessageWrites(workspace: string, { facts }: NewMessage): Write[] {
  const { waiting_until: _, ...message } = facts;
  // Its wake-up may be lost. An inbox agent needs none, but may be registered with a webhook at this very moment.
  const dueAt = Math.min(facts.sent_at + wakeUpCheckMs, facts.deadline_at);
  return [newHeadWrite(workspace, message, dueAt), newItemWrite(workspace, facts)];
}

/** Wakes the groups of those messages whose receivers are called by webhook. */
export async function wake(workspace: string, messages: readonly NewMessage[]): Promise<void> {
  const woken = messages.filter(({ receiver }) => receiver.delivery === "webhook").map(({ facts }) => facts);
  await sendWakeUps(workspace, woken);
}

interface Texts {
  facts: Pick<NewMessage["facts"], "id" | "deadline_at">;
  content: string;
  files: readonly RequestedFile[];
}

/** What must be stored before its message is accepted. */
export const textsOf = (workspace: string, messages: readonly Texts[]): Item[] =>
  messages.flatMap(({ facts, content, files }) =>
    messageTexts(workspace, facts.id, { content, files }, facts.deadline_at),
  );

/**
 * Accepts messages whose texts are stored: heads, inbox items and `extra` in one transaction, then the wake-ups.
 * Once it returns, every message is delivered or ends with a reason.
 * @throws {ConditionFailed} when an `extra` write is refused; nothing is accepted then
 */
export async function accept(
  workspace: string,
  messages: readonly NewMessage[],
  extra: readonly Write[] = [],
): Promise<void> {
  await transact([...messages.flatMap((message) => newMessageWrites(workspace, message)), ...extra]);
  await wake(workspace, messages);
}
