import { ToolError } from "./errors.ts";
import { retryAfter } from "./failure.ts";
import type { Log } from "./log.ts";
import type { GatewayAnswer } from "./request.ts";

/** A JSON answer with the headers that all answers have. */
export function answer(
  requestId: string,
  statusCode: number,
  body: Record<string, unknown>,
  extra: Record<string, string> = {},
): GatewayAnswer {
  const headers = {
    "content-type": "application/json; charset=utf-8",
    "cache-control": "no-store",
    "x-request-id": requestId,
    ...extra,
  };
  return { statusCode, headers, body: JSON.stringify(body) };
}

/** What a failure says by headers: how to authenticate (RFC 9110, 11.6.1), which method works, when to try again. */
export function errorHeaders(error: ToolError): Record<string, string> {
  return {
    ...(error.type === "UNAUTHENTICATED" && { "www-authenticate": 'Bearer realm="switchboard"' }),
    ...(error.particulars.allow !== undefined && { allow: error.particulars.allow }),
    ...retryAfter(error),
  };
}

const overload =
  /Throttl|TooManyRequests|ProvisionedThroughput|RequestLimit|Transaction(Canceled|Conflict|InProgress)|Timeout|ECONN|EPIPE|ServiceUnavailable|InternalServerError/;

/** Names what was thrown. Nothing of an unexpected error leaves but the request id; the log has all of it. */
export function asToolError(thrown: unknown, log: Log, requestId: string): ToolError {
  if (thrown instanceof ToolError) return thrown;
  log.error("unexpected error", thrown as Error);
  const { name = "", code = "" } = thrown as { name?: string; code?: string };
  if (overload.test(`${name} ${code}`)) {
    return new ToolError("UNAVAILABLE", "A part of the service is overloaded or does not answer.", { retryAfterS: 2 });
  }
  return new ToolError("INTERNAL", `Unexpected error; request id ${requestId}.`);
}
