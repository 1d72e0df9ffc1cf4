import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import * as z from "zod";

/** What stands in `_meta` of a request and its result, in place of HTTP headers that MCP has no room for. */
const metaKeys = {
  idempotencyKey: "switchboard/idempotencyKey",
  prefer: "switchboard/prefer",
  preferenceApplied: "switchboard/preferenceApplied",
  retryAfter: "switchboard/retryAfter",
  requestId: "switchboard/requestId",
} as const;

/** A key without our prefix is understood too; the prefixed one goes first. */
const asked = z.looseObject({
  [metaKeys.idempotencyKey]: z.string().optional(),
  [metaKeys.prefer]: z.string().optional(),
  idempotencyKey: z.string().optional(),
  prefer: z.string().optional(),
});

/** What a call asks for beside its arguments. */
export interface Asked {
  idempotencyKey: string | undefined;
  /** As the header of RFC 7240: `wait=N` or `respond-async`. */
  prefer: string | undefined;
}

/** @throws {ProtocolError} InvalidParams naming what is no text */
export function readMeta(meta: unknown): Asked {
  const parsed = asked.safeParse(meta ?? {});
  if (!parsed.success) {
    const wrong = parsed.error.issues.map(({ path }) => ["_meta", ...path].join(".")).join(", ");
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Invalid params: ${wrong} must be text.`);
  }
  const { data } = parsed;
  return {
    idempotencyKey: data[metaKeys.idempotencyKey] ?? data.idempotencyKey,
    prefer: data[metaKeys.prefer] ?? data.prefer,
  };
}

/** The answer's headers that a client may act on, under their names in `_meta`. */
export function metaOf(headers: Record<string, string>, idempotencyKey: string | undefined): Record<string, string> {
  const told: [string, string | undefined][] = [
    [metaKeys.idempotencyKey, idempotencyKey],
    [metaKeys.preferenceApplied, headers["preference-applied"]],
    [metaKeys.retryAfter, headers["retry-after"]],
    [metaKeys.requestId, headers["x-request-id"]],
  ];
  return Object.fromEntries(told.filter((entry): entry is [string, string] => entry[1] !== undefined));
}
