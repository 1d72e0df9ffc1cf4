import { SendMessageBatchCommand } from "@aws-sdk/client-sqs";
import * as z from "zod";
import { sqs } from "../_runtime/clients.ts";
import { env } from "../_runtime/env.ts";
import { logFor } from "../_runtime/log.ts";
import { messageGroup, sessionDigest } from "../_table/keys.ts";
import type { Facts } from "../_table/messages.ts";

/** What travels through SQS: which group has something to deliver. The message itself stays in the table. */
const wakeUp = z.strictObject({ workspace: z.string(), receiver: z.string(), session_at: z.string() });
export type WakeUp = z.output<typeof wakeUp>;

/** Reads a message of the queue; anybody who may send to it may have written it. */
export function readWakeUp(body: string): z.ZodSafeParseResult<WakeUp> {
  return wakeUp.safeParse(parseJson(body));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

type Woken = Pick<Facts, "id" | "receiver" | "session_id">;
const batchSize = 10;

/**
 * Sends one wake-up for each message. One that can't be sent is no failure of the request: the message is
 * in the table, and `sweep` sends its wake-up again.
 * @param generation 0 for a message's first wake-up; sweeps count minutes, so that SQS keeps a second one
 */
export async function sendWakeUps(workspace: string, messages: readonly Woken[], generation = 0): Promise<void> {
  for (let from = 0; from < messages.length; from += batchSize) {
    const batch = messages.slice(from, from + batchSize);
    try {
      const { Failed = [] } = await sqs.send(
        new SendMessageBatchCommand({
          QueueUrl: env().MESSAGES_QUEUE_URL,
          Entries: batch.map((message, index) => entry(workspace, message, generation, String(index))),
        }),
      );
      if (Failed.length > 0) log.error("wake-ups not sent; sweep will send them", { failed: Failed });
    } catch (error) {
      log.error("wake-ups not sent; sweep will send them", error as Error);
    }
  }
}

const log = logFor({ part: "wake_up" });

function entry(workspace: string, { id, receiver, session_id }: Woken, generation: number, entryId: string) {
  const body: WakeUp = { workspace, receiver, session_at: sessionDigest(session_id) };
  return {
    Id: entryId,
    MessageBody: JSON.stringify(body),
    MessageGroupId: messageGroup(workspace, receiver, body.session_at),
    MessageDeduplicationId: `${id}-${generation}`,
  };
}
