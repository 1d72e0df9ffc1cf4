import { InvokeCommand } from "@aws-sdk/client-lambda";
import * as z from "zod";
import { lambda } from "./clients.ts";
import type { DirectEvent } from "./direct_event.ts";
import { env } from "./env.ts";
import type { GatewayAnswer, GatewayEvent } from "./request.ts";

const answer = z.object({ statusCode: z.number(), headers: z.record(z.string(), z.string()), body: z.string() });

/**
 * Runs a tool from inside, by its own Lambda: nothing else ever runs a tool (design, section 3).
 * @param event an HTTP API event that carries its caller's key, or a direct event, which our own roles alone may send
 * @returns the tool's answer, also when it refuses
 * @throws {Error} when the function itself failed or can't be reached; whether it ran is then unknown
 */
export async function invokeTool(tool: string, event: GatewayEvent | DirectEvent): Promise<GatewayAnswer> {
  const { Payload, FunctionError } = await lambda.send(
    new InvokeCommand({ FunctionName: `${env().FUNCTION_PREFIX}${tool}`, Payload: JSON.stringify(event) }),
  );
  const text = new TextDecoder().decode(Payload);
  if (FunctionError !== undefined) throw new Error(`${tool} failed: ${text.slice(0, 500)}`);
  return answer.parse(JSON.parse(text));
}
