import { mayUse } from "../../_runtime/auth.ts";
import type { Contract } from "../../_runtime/contract.ts";
import { ToolError } from "../../_runtime/errors.ts";
import { definition, languageOf, seedManifest } from "../../_runtime/manifest.ts";
import { anthropic } from "./formats/anthropic.ts";
import type { PlatformFormat } from "./formats/format.ts";
import { gemini } from "./formats/gemini.ts";
import { mcp } from "./formats/mcp.ts";
import { openai, openaiResponses } from "./formats/openai.ts";
import { type Loss, lossOf } from "./losses.ts";

type Query = Record<string, string>;

type Tool = Record<string, unknown>;
type Listing = { tools: Tool[]; losses?: Loss[] };
type Format = (contracts: readonly Contract[], query: Query) => Listing;

/** A format for people and programs: a document for each tool. */
const documents =
  (documentOf: (contract: Contract, query: Query) => Tool): Format =>
  (contracts, query) => ({ tools: contracts.map((contract) => documentOf(contract, query)) });

/**
 * A format that goes to a model as it is, with what it can't express. Operators' tools are not for agents, whatever
 * their key allows, so they are left out.
 */
const platform =
  (format: PlatformFormat): Format =>
  (contracts, query) => {
    const language = languageOf(query);
    const forAgents = contracts.filter(({ audience }) => audience === "agent");
    const tools = forAgents.map((contract) => format.tool(contract, language));
    return { tools: format.list?.(tools) ?? tools, losses: forAgents.map((contract) => lossOf(contract, format)) };
  };

const formats: Record<string, Format> = {
  definition: documents((contract, query) => definition(contract, languageOf(query))),
  seed: documents((contract, query) => seedManifest(contract, { additions: additionsOf(query) })),
  mcp: platform(mcp),
  openai: platform(openai),
  "openai-responses": platform(openaiResponses),
  anthropic: platform(anthropic),
  gemini: platform(gemini),
};

export const formatNames = Object.keys(formats);

/** The tools that a key's scopes allow, in the format asked for. @throws {ToolError} INVALID_INPUT */
export function list(contracts: readonly Contract[], scopes: readonly string[], query: Query): Listing {
  const allowed = contracts.filter((contract) => mayUse(scopes, contract));
  return formatOf(query)(allowed, query);
}

/**
 * One tool: its document, or a platform's list of one. A tool that the key may not use is answered like one that
 * doesn't exist.
 * @throws {ToolError} TOOL_NOT_FOUND, INVALID_INPUT
 */
export function one(contracts: readonly Contract[], name: string, scopes: readonly string[], query: Query): Tool {
  const found = contracts.filter((contract) => contract.name === name);
  const listing = list(found, scopes, query);
  const [tool] = listing.tools;
  if (tool === undefined)
    throw new ToolError("TOOL_NOT_FOUND", `There is no tool '${name}' for this key in this format.`, {
      hint: "GET /v1/tools lists what this key may use; operators' tools have the formats definition and seed only.",
    });
  return listing.losses === undefined ? tool : listing;
}

function additionsOf({ additions = "true" }: Query): boolean {
  if (additions === "true" || additions === "false") return additions === "true";
  throw new ToolError("INVALID_INPUT", "additions: is neither true nor false.", { hint: "Use one of: true, false." });
}

function formatOf({ format = "definition" }: Query): Format {
  const found = Object.hasOwn(formats, format) ? formats[format] : undefined;
  if (found !== undefined) return found;
  throw new ToolError("INVALID_INPUT", "format: is not one of the catalog's.", {
    hint: `Use one of: ${formatNames.join(", ")}.`,
  });
}
