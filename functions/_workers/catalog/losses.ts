import type { Contract } from "../../_runtime/contract.ts";
import { definition } from "../../_runtime/manifest.ts";
import { inputSchema, type JsonSchema } from "../../_runtime/schema.ts";
import type { ExportedSchema, PlatformFormat } from "./formats/format.ts";

/** What a platform's format can't say of a tool. The runtime keeps to all of it nevertheless. */
export interface Loss {
  tool: string;
  /** Fields of the Tool Definition, for example `requiresApproval`. */
  fields: string[];
  /** Keywords of the input schema, each with the paths where it is lost; "" is the schema itself. */
  keywords: Record<string, string[]>;
}

/** Found by comparing what goes in with what comes out, so that no format can forget to report. */
export function lossOf(contract: Contract, format: PlatformFormat): Loss {
  // Texts in another language are not lost: `lang` chooses them.
  const fields = Object.keys(definition(contract, "en")).filter(
    (field) => field !== "locales" && !format.expresses.includes(field),
  );
  const schema = inputSchema(contract);
  const keywords: Record<string, string[]> = {};
  for (const [keyword, path] of lostKeywords(schema, format.inputSchema(schema))) {
    keywords[keyword] = [...(keywords[keyword] ?? []), path];
  }
  return { tool: contract.name, fields, keywords };
}

function lostKeywords(schema: JsonSchema, exported: ExportedSchema, path = ""): [keyword: string, path: string][] {
  const { properties = {}, items } = schema;
  const here = Object.keys(schema).filter((keyword) => !(keyword in exported));
  return [
    ...here.map((keyword): [string, string] => [keyword, path]),
    ...Object.entries(properties).flatMap(([name, property]) =>
      lostKeywords(property, exported.properties?.[name] ?? {}, path === "" ? name : `${path}.${name}`),
    ),
    ...(items ? lostKeywords(items, exported.items ?? {}, `${path}[]`) : []),
  ];
}
