import { definition } from "../../../_runtime/manifest.ts";
import type { PlatformFormat } from "./format.ts";

/** Tools of Anthropic's Messages API, whose `input_schema` is JSON Schema 2020-12, as ours are. */
export const anthropic: PlatformFormat = {
  expresses: ["name", "description", "inputSchema"],
  inputSchema: (schema) => schema,
  tool: (contract, language) => {
    const { name, description, inputSchema } = definition(contract, language);
    return { name, description, input_schema: inputSchema };
  },
};
