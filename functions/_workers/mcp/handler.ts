import { asToolError } from "../../_runtime/answer.ts";
import { authenticate } from "../../_runtime/auth.ts";
import { ToolError } from "../../_runtime/errors.ts";
import { type Log, logFor } from "../../_runtime/log.ts";
import { languageOf } from "../../_runtime/manifest.ts";
import { bearerToken, type GatewayAnswer, type GatewayEvent, parseEvent, readJson } from "../../_runtime/request.ts";
import { assertOrigin, assertTakesJson, gatewayAnswer, refusal, requestOf } from "./http.ts";
import { assertOneMessage, requestIdOf, toolCallOf, withoutArguments } from "./message.ts";
import { readMeta } from "./meta.ts";
import { relay } from "./relay.ts";
import { type Offer, respond } from "./server.ts";
import { findTool, toolsOf, unknownTool } from "./tools.ts";

/** What was understood of a message by the time it was refused. */
interface Seen {
  id: string | number | undefined;
}

/** `POST /mcp`: the agents' tools for MCP clients, over streamable HTTP without sessions, with the same keys. */
export async function handler(rawEvent: unknown): Promise<GatewayAnswer> {
  const event = parseEvent(rawEvent);
  const { requestId } = event.requestContext;
  const log = logFor({ request_id: requestId, worker: "mcp" });
  const seen: Seen = { id: undefined };
  try {
    return await gatewayAnswer(requestId, await exchange(event, log, seen));
  } catch (thrown) {
    const error = asToolError(thrown, log, requestId);
    log.info("refused", { error_type: error.type, status: error.status });
    return refusal(requestId, error, seen.id);
  }
}

/** @throws {ToolError} what is said by the HTTP status, since it is no matter of the protocol */
async function exchange(event: GatewayEvent, log: Log, seen: Seen): Promise<Response> {
  assertOrigin(event);
  if (bearerToken(event) === undefined) throw new ToolError("UNAUTHENTICATED", "The request carries no API key.");
  assertTakesJson(event);
  const message = readJson(event);
  assertOneMessage(message);
  seen.id = requestIdOf(message);
  const call = toolCallOf(message);
  const contract = call && findTool(call.params.name);
  // A tool authenticates its own calls, so that each counts once against the key's rate; a notification asks nothing.
  const principal = contract || seen.id === undefined ? undefined : await authenticate(event);
  const language = languageOf(event.queryStringParameters);
  let refused: unknown;
  const offer: Offer = {
    list: () => (principal ? toolsOf(principal, language) : []),
    call: async (name) => {
      if (!call || !contract) throw unknownTool(name);
      const asked = readMeta(call.params._meta);
      return relay({ contract, input: call.params.arguments, asked }, event, log).catch((error: unknown) => {
        refused = error;
        throw error;
      });
    },
  };
  const response = await respond(requestOf(event), call ? withoutArguments(call) : message, offer, log);
  if (refused !== undefined) throw refused;
  return response;
}
