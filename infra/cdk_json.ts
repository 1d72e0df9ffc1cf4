import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";

const cdkJson = z.object({ context: z.record(z.string(), z.unknown()) });

/** The context that stands in cdk.json, for commands that the CDK CLI doesn't run. */
export function readCdkContext(): Record<string, unknown> {
  return cdkJson.parse(JSON.parse(readFileSync(join(import.meta.dirname, "../cdk.json"), "utf8"))).context;
}
