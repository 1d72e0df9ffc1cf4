import * as z from "zod";
import { ToolError } from "./errors.ts";
import { limits } from "./limits.ts";

/** The parts of an HTTP API event (payload format 2.0) that we read. Header names arrive in lower case. */
const gatewayEvent = z.object({
  version: z.literal("2.0"),
  routeKey: z.string(),
  rawPath: z.string(),
  headers: z.record(z.string(), z.string()).default({}),
  queryStringParameters: z.record(z.string(), z.string()).default({}),
  body: z.string().optional(),
  isBase64Encoded: z.boolean().default(false),
  requestContext: z.object({
    requestId: z.string(),
    /** When the gateway took the request, in ms; its 30 s count from here. */
    timeEpoch: z.number(),
    stage: z.string().default("$default"),
    http: z.object({ method: z.string() }),
  }),
});
export type GatewayEvent = z.output<typeof gatewayEvent>;

/** An HTTP API answer, payload format 2.0. */
export interface GatewayAnswer {
  statusCode: number;
  headers: Record<string, string>;
  body: string;
}

export function parseEvent(event: unknown): GatewayEvent {
  const parsed = gatewayEvent.parse(event);
  const headers = Object.entries(parsed.headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  return { ...parsed, headers: Object.fromEntries(headers) };
}

/**
 * The request's JSON value; undefined when there is no body.
 * The gateway hands over any body it takes for binary (no content type, curl's form type) in base64.
 * @throws {ToolError} REQUEST_TOO_LARGE, INVALID_JSON
 */
export function readJson(event: GatewayEvent): unknown {
  const bytes = Buffer.from(event.body ?? "", event.isBase64Encoded ? "base64" : "utf8");
  if (bytes.length > limits.requestBytes) {
    throw new ToolError(
      "REQUEST_TOO_LARGE",
      `The request has ${bytes.length} bytes; at most ${limits.requestBytes} are read.`,
    );
  }
  if (bytes.length === 0) return undefined;
  let text = "";
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return JSON.parse(text);
  } catch (error) {
    throw invalidJson(error as Error, text);
  }
}

function invalidJson({ message }: Error, text: string): ToolError {
  // V8 names the position at which it missed something: at the end, when the text was cut.
  const missedAt = Number(/position (\d+)/.exec(message)?.[1] ?? Number.NaN);
  const cut = missedAt >= text.length || /end of JSON input|Unterminated/.test(message);
  return cut
    ? new ToolError("INVALID_JSON", "The JSON ends in the middle: it was cut, and nothing was done.", {
        hint: "Send the whole arguments again, shorter if a length limit cut them.",
      })
    : new ToolError("INVALID_JSON", "The body is not JSON in UTF-8.", {
        hint: 'Send one JSON object with the tool\'s parameters, for example {"agent_name": "writer"}.',
      });
}

/** The API key as it was sent; undefined when there is none. The scheme's name has no case (RFC 9110, 11.1). */
export function bearerToken(event: GatewayEvent): string | undefined {
  return /^Bearer +(\S+)$/i.exec(event.headers.authorization ?? "")?.[1];
}

/** @throws {ToolError} INVALID_INPUT when the key can't be one */
export function idempotencyKey(event: GatewayEvent): string | undefined {
  const key = event.headers["idempotency-key"];
  if (key === undefined) return undefined;
  if (/^[!-~]{1,255}$/.test(key)) return key;
  throw new ToolError("INVALID_INPUT", "The Idempotency-Key header must be 1 to 255 visible ASCII characters.", {
    hint: "Send a fresh UUID for each new action, and the same one when you repeat it.",
  });
}

const longestWaitS = 25;

/** How long a request may wait, and what `Preference-Applied` says of it. */
export interface Wait {
  /** Instant at which waiting is over, in ms; 0 when the caller does not wait. */
  until: number;
  applied: string | undefined;
}

/** Of a tool that answers at once: a preference would change nothing, so none is applied. */
export const noWait: Wait = { until: 0, applied: undefined };

/**
 * Reads `Prefer: wait=N` and `respond-async` (RFC 7240). A preference that can't be read is ignored, as the
 * RFC says; more than 25 s is clamped, so that the gateway's 30 s, which count from `timeEpoch`, are never met.
 */
export function readWait(event: GatewayEvent, defaultS: number, nowMs = Date.now()): Wait {
  const preferences = (event.headers.prefer ?? "")
    .toLowerCase()
    .split(",")
    .map((preference) => preference.trim());
  const asked = preferences
    .map((preference) => /^wait\s*=\s*("?)(\d+)\1\s*(;|$)/.exec(preference)?.[2])
    .find((n) => n !== undefined);
  const async = preferences.some((preference) => /^respond-async\s*(;|$)/.test(preference));
  // `respond-async, wait=N` together: RFC 7240 lets the server wait N before it answers asynchronously.
  const seconds = asked === undefined ? (async ? 0 : defaultS) : Math.min(Number(asked), longestWaitS);
  const start = Math.min(nowMs, event.requestContext.timeEpoch);
  const applied = asked !== undefined ? `wait=${seconds}` : async ? "respond-async" : undefined;
  return { until: seconds === 0 ? 0 : start + seconds * 1000, applied };
}
