import type { Contract } from "../../_runtime/contract.ts";
import { ToolError } from "../../_runtime/errors.ts";
import { definition, type Language, seedManifest } from "../../_runtime/manifest.ts";
import { contracts } from "../../tools.ts";

type Query = Record<string, string>;
type Format = (contract: Contract, query: Query) => Record<string, unknown>;

const formats: Record<string, Format> = {
  definition: (contract, query) => definition(contract, languageOf(query)),
  seed: (contract, query) => seedManifest(contract, { additions: query.additions !== "false" }),
};

/** The tools that a key's scopes allow, in the format asked for. @throws {ToolError} INVALID_INPUT */
export function list(scopes: readonly string[], query: Query): Record<string, unknown> {
  const format = formatOf(query);
  return {
    tools: contracts.filter((contract) => isAllowed(contract, scopes)).map((contract) => format(contract, query)),
  };
}

/** One tool; one that the key may not use is answered like one that doesn't exist. @throws {ToolError} TOOL_NOT_FOUND */
export function one(name: string, scopes: readonly string[], query: Query): Record<string, unknown> {
  const found = contracts.find((contract) => contract.name === name && isAllowed(contract, scopes));
  if (found === undefined)
    throw new ToolError("TOOL_NOT_FOUND", `There is no tool '${name}' for this key.`, {
      hint: "GET /v1/tools lists what this key may use.",
    });
  return formatOf(query)(found, query);
}

const isAllowed = ({ permissions }: Contract, scopes: readonly string[]) =>
  permissions.every((permission) => scopes.includes(permission));

function formatOf({ format = "definition" }: Query): Format {
  const found = Object.hasOwn(formats, format) ? formats[format] : undefined;
  if (found !== undefined) return found;
  throw new ToolError("INVALID_INPUT", "format: is not one of the catalog's.", {
    hint: `Use one of: ${Object.keys(formats).join(", ")}.`,
  });
}

function languageOf({ lang = "en" }: Query): Language {
  if (lang === "en" || lang === "zh-CN") return lang;
  throw new ToolError("INVALID_INPUT", "lang: is not a language of the catalog.", { hint: "Use one of: en, zh-CN." });
}
