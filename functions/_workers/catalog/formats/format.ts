import type { Contract } from "../../../_runtime/contract.ts";
import type { Language } from "../../../_runtime/manifest.ts";
import type { JsonSchema } from "../../../_runtime/schema.ts";

/** A schema as a platform takes it: our own, with fewer keywords or with other values of them. */
export interface ExportedSchema {
  type?: unknown;
  enum?: unknown[];
  properties?: Record<string, ExportedSchema>;
  items?: ExportedSchema;
}

/** How a model platform takes tools. */
export interface PlatformFormat {
  /** The fields of a Tool Definition that it expresses; all others are lost. */
  expresses: readonly string[];
  /** The input schema as the platform takes it. */
  inputSchema(schema: JsonSchema): ExportedSchema;
  tool(contract: Contract, language: Language): Record<string, unknown>;
  /** What the platform's `tools` parameter holds, where that is not simply the tools. */
  list?(tools: Record<string, unknown>[]): Record<string, unknown>[];
}

/** The same schema with no other keywords than these. */
export const only = (schema: JsonSchema, keywords: ReadonlySet<string>): ExportedSchema =>
  Object.fromEntries(Object.entries(schema).filter(([keyword]) => keywords.has(keyword))) as ExportedSchema;

/** The same object with each value changed. */
export const mapValues = <V, W>(object: Record<string, V>, change: (value: V, name: string) => W): Record<string, W> =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value, name)]));
