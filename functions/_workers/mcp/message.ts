import * as z from "zod";
import { ToolError } from "../../_runtime/errors.ts";

/** As much of a request as is read here; the protocol's library judges all of it. */
const request = z.looseObject({ method: z.string(), id: z.union([z.string(), z.number()]) });

const toolCall = request.extend({
  method: z.literal("tools/call"),
  params: z.looseObject({ name: z.string(), arguments: z.unknown().optional(), _meta: z.unknown().optional() }),
});
export type ToolCall = z.output<typeof toolCall>;

/** The id that an answer must carry; undefined for a message that wants none, or is no message. */
export const requestIdOf = (message: unknown): string | number | undefined => request.safeParse(message).data?.id;

export const toolCallOf = (message: unknown): ToolCall | undefined => toolCall.safeParse(message).data;

/**
 * A call without its arguments. The tool reads them as they came: the protocol's schema would refuse some of what
 * tools forgive, as `null` or JSON text for an object.
 */
export const withoutArguments = (call: ToolCall): ToolCall => ({ ...call, params: { ...call.params, arguments: {} } });

/** @throws {ToolError} INVALID_INPUT, also for a batch, which no revision since 2025-06-18 has */
export function assertOneMessage(message: unknown): void {
  if (typeof message === "object" && message !== null && !Array.isArray(message)) return;
  throw new ToolError("INVALID_INPUT", "The body is not one JSON-RPC message.", {
    hint: Array.isArray(message)
      ? "Send each message of the batch in a request of its own."
      : 'Send for example {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}.',
  });
}
