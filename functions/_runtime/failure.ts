import type { Contract } from "./contract.ts";
import type { ToolError } from "./errors.ts";
import { hasEnvelope, type JsonSchema, outputSchema } from "./schema.ts";

/**
 * A failed tool's answer in the tool's own shape: `code` = the HTTP status, the identifying fields that were
 * understood, empty results, and `error`; of a tool without the envelope `error` alone (design, section 3).
 */
export function failure(contract: Contract, error: ToolError, input: unknown): Record<string, unknown> {
  const fault = faultOf(error, contract.errorModel);
  if (!hasEnvelope(contract)) return { error: fault };
  return {
    ...emptyReturns(contract, input),
    ...error.particulars.returns,
    code: error.status,
    msg: error.message,
    error: fault,
  };
}

/** What went wrong, for people, models and programs. The model's sentence stands in where no hint is more exact. */
export function faultOf(error: ToolError, errorModel: Contract["errorModel"]) {
  const { hint, details } = error.particulars;
  return {
    type: error.type,
    message: error.message,
    hint: hint ?? errorModel[error.type] ?? "",
    retryable: error.retryable,
    ...(details && { details }),
  };
}

export const retryAfter = ({ particulars: { retryAfterS } }: ToolError): Record<string, string> =>
  retryAfterS === undefined ? {} : { "retry-after": String(retryAfterS) };

function emptyReturns(contract: Contract, input: unknown): Record<string, unknown> {
  const { properties = {} } = outputSchema(contract);
  const returns = Object.entries(properties).filter(([name]) => name !== "error");
  return Object.fromEntries(
    returns.map(([name, schema]) => [name, echoed(input, contract.echo?.[name] ?? name, schema) ?? empty(schema)]),
  );
}

/** Texts of which a failed answer must not look as if they were its result. */
const results = new Set(["content", "detailed"]);

/** The caller's own value for a field, when it could be read: only short texts identify anything. */
function echoed(input: unknown, name: string, schema: JsonSchema): string | undefined {
  if (schema.type !== "string" || typeof input !== "object" || input === null || !Object.hasOwn(input, name))
    return undefined;
  const value: unknown = Reflect.get(input, name);
  if (typeof value !== "string" || results.has(name) || schema.enum) return undefined;
  return value.length > (schema.maxLength ?? 1024) ? undefined : value.toWellFormed();
}

function empty(schema: JsonSchema): unknown {
  if (schema.default !== undefined) return schema.default;
  const byType: Record<string, unknown> = { string: "", array: [], number: 0, integer: 0, boolean: false, object: {} };
  return byType[schema.type ?? "string"] ?? "";
}
