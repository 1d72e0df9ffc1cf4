import type { Contract } from "../../../_runtime/contract.ts";
import { definition, type Language } from "../../../_runtime/manifest.ts";
import type { JsonSchema } from "../../../_runtime/schema.ts";
import { type ExportedSchema, mapValues, only, type PlatformFormat } from "./format.ts";

/** Of those that our schemas use, what strict mode takes (OpenAI, Structured Outputs, "Supported schemas"). */
const keywords = new Set(
  "type description enum properties required additionalProperties items minimum maximum maxItems".split(" "),
);

/**
 * Strict mode wants every property required. One that may be left out may be null instead, which the runtime
 * reads as left out.
 */
function strict(schema: JsonSchema, mayBeAbsent = false): ExportedSchema {
  const { type, enum: values, properties, required = [], items } = schema;
  return {
    ...only(schema, keywords),
    ...(mayBeAbsent && { type: [type, "null"] }),
    ...(mayBeAbsent && values && { enum: [...values, null] }),
    ...(properties && {
      properties: mapValues(properties, (property, name) => strict(property, !required.includes(name))),
      required: Object.keys(properties),
    }),
    ...(items && { items: strict(items) }),
  };
}

function functionOf(contract: Contract, language: Language) {
  const { name, description, inputSchema } = definition(contract, language);
  return { name, description, parameters: strict(inputSchema), strict: true };
}

const expresses = ["name", "description", "inputSchema"];

/** Function tools of Chat Completions, which platforms compatible with OpenAI take too. */
export const openai: PlatformFormat = {
  expresses,
  inputSchema: strict,
  tool: (contract, language) => ({ type: "function", function: functionOf(contract, language) }),
};

/** The same of the Responses API. */
export const openaiResponses: PlatformFormat = {
  expresses,
  inputSchema: strict,
  tool: (contract, language) => ({ type: "function", ...functionOf(contract, language) }),
};
