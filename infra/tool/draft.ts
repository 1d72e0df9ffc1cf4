import type { Contract, Permission } from "../../functions/_runtime/contract.ts";
import type { JsonSchema } from "../../functions/_runtime/schema.ts";
import type { SeedManifest, ToolDefinition } from "./formats.ts";
import type { ManifestFile } from "./manifest_file.ts";
import { sample } from "./samples.ts";
import { readInputSchema, readOutputSchema, schemaOfFields } from "./schemas.ts";
import { inBoth, sourceDescription, type Told, titleOf, toldDescription, toldFields } from "./texts.ts";

type Plain = "name" | "version" | "group" | "main" | "audience" | "riskLevel" | "idempotent" | "sideEffect";

/** All that a contract will say, with plain JSON Schemas; its texts in both languages. */
export interface Draft extends Pick<Contract, Plain | "requiresApproval" | "permissions"> {
  title: Told;
  displayName: string;
  description: Told;
  category: Told;
  input: JsonSchema;
  output: JsonSchema;
  /** By path, as locales keep them (`tasks[].name`). */
  texts: { input: Record<string, Told>; output: Record<string, Told> };
  /** Returns that a seed marks as required. */
  seedRequired: readonly string[];
  /** Returns that the manifest doesn't have and that every tool of its kind needs. */
  additions: readonly string[];
  errorModel: Record<string, string>;
  examples: readonly { input: unknown; output: unknown }[];
}

export interface Choices {
  permission: Permission | undefined;
  title: string | undefined;
}

/** First words of names of tools that only read. */
const reading = /^(get|list|read|search|find|show|count|check|query)_/;

/** How a tool is governed of which only the name is known: what may do anything is taken to reach others. */
function governed(name: string, subject: string, { permission }: Choices) {
  const [verb = ""] = name.split("_");
  const reads = reading.test(name);
  return {
    riskLevel: reads ? "low" : "medium",
    idempotent: reads,
    sideEffect: reads ? "none" : "external",
    requiresApproval: false,
    permissions: [permission ?? (`${subject}:${reads ? "read" : verb}` as Permission)],
    version: "1.0.0",
    audience: "agent",
  } as const;
}

const envelope: Record<string, JsonSchema> = {
  code: { type: "number", description: "状态码", default: 0 },
  msg: { type: "string", description: "状态描述", default: "" },
};

/** A tool without parameters that answers `code` and `msg`: the beginning of one of your own. */
export function newDraft(name: string, choices: Choices): Draft {
  const subject = name.split("_").at(-1) ?? name;
  const title = choices.title ?? titleOf(name);
  return {
    ...governed(name, subject, choices),
    ...stated({ type: "object", properties: {} }, returnsOf(envelope)),
    name,
    title: inBoth(title),
    displayName: title,
    description: toldDescription(undefined),
    category: { en: "Own tools", "zh-CN": "自有工具" },
    group: subject,
    main: "./index.js",
    seedRequired: [],
    additions: [],
    errorModel: {},
  };
}

/** An agent tool's returns are always present. */
const returnsOf = (properties: Record<string, JsonSchema>): JsonSchema => ({
  type: "object",
  properties,
  required: Object.keys(properties),
});

/** @throws {OperatorError} naming file, line and column of what can't become a contract */
export function draftOfSeed(seed: SeedManifest, file: ManifestFile, choices: Choices): Draft {
  const { name, description, category, group, main } = seed;
  const input = schemaOfFields(seed.params, file, "params");
  const returns = schemaOfFields(seed.returns, file, "returns");
  const additions = Object.keys(envelope).filter((field) => returns.properties?.[field] === undefined);
  const properties = { ...envelope, ...returns.properties };
  const seedRequired = seed.returns.filter(({ required }) => required === true).map((field) => field.name);
  const output = withSource(returnsOf(properties), "source_ref", { default: "" });
  const told = inBoth(choices.title ?? seed.title);
  return {
    ...governed(name, /^[a-z][a-z0-9_]*$/.test(group) ? group : "tool", choices),
    ...stated(input, output.schema),
    name,
    // The name is English already.
    title: choices.title === undefined ? { en: titleOf(name), "zh-CN": told["zh-CN"] } : told,
    displayName: choices.title ?? titleOf(name),
    description: toldDescription(description),
    category: inBoth(category),
    group,
    main,
    seedRequired,
    additions: [...additions, ...output.added],
    errorModel: {},
  };
}

/** @throws {OperatorError} naming file, line and column of what can't become a contract */
export function draftOfDefinition(definition: ToolDefinition, file: ManifestFile, choices: Choices): Draft {
  const { name, inputSchema, outputSchema, examples, type: _type, ...same } = definition;
  const input = readInputSchema(inputSchema, file);
  const output = withSource(readOutputSchema(outputSchema, file), "sourceRef", {});
  const draft = stated(input, output.schema);
  const permissions = choices.permission === undefined ? definition.permissions : [choices.permission];
  const title = choices.title ?? definition.title ?? definition.displayName;
  return {
    ...same,
    ...draft,
    name,
    permissions,
    title: inBoth(title),
    displayName: choices.title ?? definition.displayName,
    description: toldDescription(definition.description),
    category:
      definition.category === undefined ? { en: "Own tools", "zh-CN": "自有工具" } : inBoth(definition.category),
    group: definition.group ?? permissions[0]?.split(":")[0] ?? "tool",
    seedRequired: [],
    additions: output.added,
    examples: examples.length > 0 ? examples.map((example) => withAdded(example, output.added)) : draft.examples,
  };
}

const stated = (input: JsonSchema, output: JsonSchema) => ({
  input,
  output,
  texts: { input: toldFields(input), output: toldFields(output) },
  examples: [{ input: sample(input), output: sample(output) }],
});

const withAdded = ({ input, output }: ToolDefinition["examples"][number], added: readonly string[]) => ({
  input,
  output: { ...output, ...Object.fromEntries(added.map((name) => [name, sample({ type: "string" }, name)])) },
});

/** Content that is returned says where it is from (seed 002's checklist), so there is a field for it. */
function withSource(
  schema: JsonSchema,
  name: string,
  presence: Pick<JsonSchema, "default">,
): { schema: JsonSchema; added: string[] } {
  const { properties = {} } = schema;
  const hasSource = "source_ref" in properties || "sourceRef" in properties;
  if (hasSource || !returnsContent(schema)) return { schema, added: [] };
  const source: JsonSchema = { type: "string", description: sourceDescription, ...presence };
  return { schema: { ...schema, properties: { ...properties, [name]: source } }, added: [name] };
}

const returnsContent = ({ properties = {}, items }: JsonSchema): boolean =>
  "content" in properties || [...Object.values(properties), ...(items ? [items] : [])].some(returnsContent);
