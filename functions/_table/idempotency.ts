import { createHash } from "node:crypto";
import * as z from "zod";
import type { Principal } from "../_runtime/auth.ts";
import { ToolError } from "../_runtime/errors.ts";
import { type Key, idempotency as keyOf } from "./keys.ts";
import { get, ttl, type Write } from "./table.ts";

const record = z.object({
  input_sha256: z.string(),
  /** What the first request made: an id, or facts of its answer that can't be read from the record again. */
  effect: z.string(),
  /** Epoch milliseconds; the clock decides, TTL only tidies up. */
  expires_at: z.number(),
});

/** How a request's effect is found again under its Idempotency-Key. */
export interface Repeat {
  key: Key;
  inputSha256: string;
  /** The first request's effect, when this is a repeat. */
  effect: string | undefined;
}

/** How long a repeat is recognised after its effect. */
export const keptMs = 24 * 3_600_000;

/** JSON with sorted keys, so that the same input has one digest however it was written. */
export const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, entry: unknown) =>
    typeof entry === "object" && entry !== null && !Array.isArray(entry)
      ? Object.fromEntries(Object.entries(entry).sort(([a], [b]) => (a < b ? -1 : 1)))
      : entry,
  );

/**
 * Looks whether this is a repeat. Scope: workspace, key, tool and speaking agent.
 * @throws {ToolError} IDEMPOTENCY_MISMATCH when the key was used with another input
 */
export async function readIdempotency(request: {
  principal: Principal;
  tool: string;
  speaker: string;
  clientKey: string;
  input: unknown;
}): Promise<Repeat> {
  const { principal, tool, speaker, clientKey } = request;
  const key = keyOf(principal.workspace, principal.keyId, tool, speaker, clientKey);
  const inputSha256 = createHash("sha256").update(canonical(request.input)).digest("hex");
  return { key, inputSha256, effect: await effectOf(key, inputSha256) };
}

/** Whether a request under this key has had its effect, whatever it asked for. */
export async function hasEffect(key: Key): Promise<boolean> {
  const item = await get(key);
  return item !== undefined && record.parse(item).expires_at > Date.now();
}

async function effectOf(key: Key, inputSha256: string): Promise<string | undefined> {
  const item = await get(key);
  const found = item && record.parse(item);
  if (!found || found.expires_at <= Date.now()) return undefined;
  if (found.input_sha256 !== inputSha256) {
    throw new ToolError(
      "IDEMPOTENCY_MISMATCH",
      "This Idempotency-Key was used with another input in the last 24 hours.",
      {
        hint: "Use a new Idempotency-Key for a new action; repeat the exact input to repeat an old one.",
      },
    );
  }
  return found.effect;
}

/**
 * Writes the record in the same transaction as the effect; refused when a parallel repeat was first.
 * @param keptUntil instant in ms; 24 hours from now unless the effect itself comes later
 */
export function rememberWrites(repeat: Repeat | undefined, effect: string, keptUntil = Date.now() + keptMs): Write[] {
  if (repeat === undefined) return [];
  const now = Date.now();
  return [
    {
      Put: {
        Item: {
          ...repeat.key,
          input_sha256: repeat.inputSha256,
          effect,
          expires_at: keptUntil,
          ttl: ttl(keptUntil),
        },
        ConditionExpression: "attribute_not_exists(PK) OR #expires_at <= :now",
        ExpressionAttributeValues: { ":now": now },
      },
    },
  ];
}

/** Takes back `rememberWrites`, together with the effect. */
export const forgetWrites = (repeat: Repeat | undefined): Write[] =>
  repeat === undefined ? [] : [{ Delete: { Key: repeat.key } }];

/**
 * The effect of a parallel request that was first under the same key: to be called when a transaction with
 * `rememberWrites` was refused. Undefined when the refusal was about something else.
 * @throws {ToolError} IDEMPOTENCY_MISMATCH
 */
export async function effectOfWinner(repeat: Repeat | undefined): Promise<string | undefined> {
  return repeat && effectOf(repeat.key, repeat.inputSha256);
}
