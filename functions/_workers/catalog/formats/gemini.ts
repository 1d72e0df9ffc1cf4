import { definition } from "../../../_runtime/manifest.ts";
import type { JsonSchema } from "../../../_runtime/schema.ts";
import { type ExportedSchema, mapValues, only, type PlatformFormat } from "./format.ts";

/** Of those that our schemas use, what the API's `Schema` knows and heeds; `default` it takes and ignores. */
const keywords = new Set(
  "type description enum properties required items minimum maximum minLength maxLength maxItems".split(" "),
);

function subset(schema: JsonSchema): ExportedSchema {
  const { properties, items } = schema;
  return {
    ...only(schema, keywords),
    ...(properties && { properties: mapValues(properties, subset) }),
    ...(items && { items: subset(items) }),
  };
}

/** Function declarations of the Gemini API, all in the one tool that it wants them in. */
export const gemini: PlatformFormat = {
  expresses: ["name", "description", "inputSchema"],
  inputSchema: subset,
  tool: (contract, language) => {
    const { name, description, inputSchema } = definition(contract, language);
    // The API refuses an object without properties: a function without parameters has no schema at all.
    const takesNothing = Object.keys(inputSchema.properties ?? {}).length === 0;
    return { name, description, ...(!takesNothing && { parameters: subset(inputSchema) }) };
  },
  list: (functionDeclarations) => (functionDeclarations.length === 0 ? [] : [{ functionDeclarations }]),
};
