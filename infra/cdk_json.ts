import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { OperatorError } from "./arguments.ts";

const cdkJson = z.object({ context: z.record(z.string(), z.unknown()) });

/** The context that stands in cdk.json, for commands that the CDK CLI doesn't run. @throws {OperatorError} */
export function readCdkContext(): Record<string, unknown> {
  const text = readFileSync(join(import.meta.dirname, "../cdk.json"), "utf8");
  try {
    return cdkJson.parse(JSON.parse(text)).context;
  } catch (error) {
    const reason = error instanceof z.ZodError ? "it has no object context" : (error as Error).message;
    throw new OperatorError(`cdk.json can't be read: ${reason}.`, { cause: error });
  }
}
