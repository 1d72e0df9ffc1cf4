import { Agent as Connections, type Dispatcher, errors, request } from "undici";
import * as z from "zod";
import { limits } from "../_runtime/limits.ts";
import type { Message } from "../_runtime/message_schema.ts";
import type { Agent } from "../_table/agents.ts";
import { checkedLookup, parseTarget, TargetRefused } from "./targets.ts";
import { signatureHeaders } from "./webhook_secret.ts";

/** What a webhook may answer a message with. */
const answer = z.strictObject({
  content: z.string(),
  type: z.string().max(64).default("text"),
  files: z.array(z.string().max(2048)).max(limits.fileEntries).default([]),
});
type Answer = z.output<typeof answer>;

/** What came of one delivery attempt. `reason` is for the sender to see and never quotes the receiver's answer. */
export type Outcome =
  | { result: "answered"; answer: Answer; httpStatus: number }
  | { result: "accepted"; httpStatus: number }
  | { result: "try again"; reason: string; httpStatus?: number; retryAfterMs?: number }
  | { result: "refused"; reason: string; httpStatus?: number; gone?: true };

const responseBytes = 512 * 1024;
const connections = new Connections({
  connect: { lookup: checkedLookup, timeout: 10_000 },
  maxResponseSize: responseBytes,
  headersTimeout: 0, // The attempt's own deadline covers headers and body.
  bodyTimeout: 0,
});

/** Posts a message to its receiver's webhook, signed; one attempt, which never throws for what the receiver does. */
export async function postMessage(workspace: string, agent: Agent, message: Message): Promise<Outcome> {
  const body = JSON.stringify({ type: message.kind, timestamp: new Date().toISOString(), data: message });
  const signature = await signatureHeaders(workspace, agent, message.message_id, body);
  try {
    const response = await request(parseTarget(agent.webhook_url), {
      method: "POST",
      headers: {
        "content-type": "application/json; charset=utf-8",
        "user-agent": "Switchboard-Webhook/1",
        ...signature,
      },
      body,
      dispatcher: connections,
      signal: AbortSignal.timeout(agent.answer_timeout_s * 1000),
    });
    return await classify(response);
  } catch (error) {
    return classifyError(error as Error, agent);
  }
}

/** The status alone decides; only a 2xx that may hold an answer has its body read. */
async function classify({ statusCode: httpStatus, headers, body }: Dispatcher.ResponseData): Promise<Outcome> {
  if (httpStatus >= 200 && httpStatus < 300 && httpStatus !== 202 && httpStatus !== 204)
    return readAnswer(httpStatus, await body.bytes());
  await body.dump();
  if (httpStatus < 300) return { result: "accepted", httpStatus };
  const reason = `The receiver's webhook answered with status ${httpStatus}.`;
  if (httpStatus === 408 || httpStatus === 429 || httpStatus >= 500) {
    const retryAfterMs = readRetryAfter(headers["retry-after"], Date.now());
    return { result: "try again", reason, httpStatus, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  }
  if (httpStatus < 400) return { result: "refused", reason: `${reason} Redirects are not followed.`, httpStatus };
  return { result: "refused", reason, httpStatus, ...(httpStatus === 410 && { gone: true }) };
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function readAnswer(httpStatus: number, body: Uint8Array): Outcome {
  if (body.length === 0) return { result: "accepted", httpStatus };
  const unreadable = {
    result: "refused",
    reason: "The receiver's webhook answered with a body that is no {content, type, files}.",
    httpStatus,
  } as const;
  let json: unknown;
  try {
    json = JSON.parse(utf8.decode(body));
  } catch {
    return unreadable;
  }
  const parsed = answer.safeParse(json);
  if (!parsed.success) return unreadable;
  const { content, files, type } = parsed.data;
  if (![content, type, ...files].every((text) => text.isWellFormed())) return unreadable;
  if (
    Buffer.byteLength(content) > limits.contentBytes ||
    Buffer.byteLength(JSON.stringify(files)) > limits.filesBytes
  ) {
    return { result: "refused", reason: "The receiver's answer is over 64 KiB.", httpStatus };
  }
  return content === "" ? { result: "accepted", httpStatus } : { result: "answered", answer: parsed.data, httpStatus };
}

/** Seconds or an HTTP date (RFC 9110, 10.2.3), as milliseconds from now; undefined when it can't be read. */
function readRetryAfter(value: string | string[] | undefined, nowMs: number): number | undefined {
  const text = Array.isArray(value) ? value[0] : value;
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}

function classifyError(error: Error, agent: Agent): Outcome {
  if (error instanceof TargetRefused) return { result: "refused", reason: error.message };
  if (error.name === "TimeoutError") {
    return { result: "try again", reason: `The receiver's webhook did not answer within ${agent.answer_timeout_s} s.` };
  }
  if (error instanceof errors.ResponseExceededMaxSizeError)
    return { result: "refused", reason: "The receiver's answer is too large." };
  return { result: "try again", reason: "The receiver's webhook could not be reached." };
}
