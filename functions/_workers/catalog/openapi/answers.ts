import { commonErrors, type ErrorType, statusOf } from "../../../_runtime/errors.ts";

type Header = "X-Request-Id" | "Preference-Applied" | "Retry-After" | "WWW-Authenticate";

export const headers = (...names: Header[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

export const json = (schema: object, example?: unknown) => ({
  "application/json": { schema, ...(example !== undefined && { example }) },
});

export const schemaRef = (name: string) => ({ $ref: `#/components/schemas/${name}` });

type ErrorModel = Partial<Record<ErrorType, string>>;

/** The headers that an answer of a status has beside those of every answer. */
function headersOf(status: number, extra: readonly Header[]) {
  const own: Header[] = status === 401 ? ["WWW-Authenticate"] : status === 429 || status === 503 ? ["Retry-After"] : [];
  return headers("X-Request-Id", ...own, ...extra);
}

/**
 * An answer for each error status, with its types of error and what to do about each.
 * @param bodyOf the body's schema, which names the types
 */
export function failures(
  errorModel: ErrorModel,
  bodyOf: (types: string[]) => object,
  extra: readonly Header[] = [],
): Record<string, object> {
  const byStatus = new Map<number, [type: string, text: string][]>();
  for (const [type, text] of Object.entries(errorModel)) {
    const status = statusOf(type as ErrorType);
    byStatus.set(status, [...(byStatus.get(status) ?? []), [type, text]]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, errors]) => [
      String(status),
      {
        description: errors.map(([type, text]) => `- \`${type}\`: ${text}`).join("\n"),
        headers: headersOf(status, extra),
        content: json(bodyOf(errors.map(([type]) => type))),
      },
    ]),
  );
}

/** The failures of a route that is no tool. */
export const catalogFailures = (...types: (keyof typeof commonErrors | "TOOL_NOT_FOUND")[]) =>
  failures(
    Object.fromEntries(
      types.map((type) => [
        type,
        type === "TOOL_NOT_FOUND"
          ? "There is no such tool for this key. GET /v1/tools lists them."
          : commonErrors[type],
      ]),
    ),
    () => schemaRef("failure"),
  );
