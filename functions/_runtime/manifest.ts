import type { Contract } from "./contract.ts";
import { ToolError } from "./errors.ts";
import {
  annotatedInputSchema,
  annotatedOutputSchema,
  inputSchema,
  type JsonSchema,
  mapParts,
  outputSchema,
} from "./schema.ts";

export type Language = "en" | "zh-CN";

/** The language that a request chooses by `lang=`. @throws {ToolError} INVALID_INPUT */
export function languageOf({ lang = "en" }: Record<string, string>): Language {
  if (lang === "en" || lang === "zh-CN") return lang;
  throw new ToolError("INVALID_INPUT", "lang: is not a language of the catalog.", { hint: "Use one of: en, zh-CN." });
}

type Texts = Record<string, string>;

/** The Chinese texts of `error`, which the runtime adds to every agent tool's output. */
const errorZh: Texts = {
  error: "失败的原因，成功时没有此项",
  "error.type": "错误类型，见工具的 errorModel",
  "error.message": "本次请求错在哪里",
  "error.hint": "下一步该怎么做",
  "error.retryable": "同样的请求稍后是否可能成功",
  "error.details": "供程序使用的细节",
};

/** The Tool Definition of a tool: the template's fields (seed 002), and those of the agent tools' manifests. */
export function definition(contract: Contract, language: Language) {
  const zh = language === "zh-CN" ? contract.locales["zh-CN"] : undefined;
  return {
    name: contract.name,
    title: zh?.title ?? contract.title,
    displayName: zh?.title ?? contract.displayName,
    description: zh?.description ?? contract.description,
    version: contract.version,
    type: contract.type,
    category: zh?.category ?? contract.category,
    group: contract.group,
    main: contract.main,
    audience: contract.audience,
    riskLevel: contract.riskLevel,
    idempotent: contract.idempotent,
    sideEffect: contract.sideEffect,
    requiresApproval: contract.requiresApproval,
    permissions: contract.permissions,
    inputSchema: retold(inputSchema(contract), zh?.input),
    outputSchema: retold(outputSchema(contract), zh && { ...zh.output, ...errorZh }),
    errorModel: contract.errorModel,
    examples: contract.examples,
    locales: contract.locales,
  };
}

/** A copy of `schema` with its descriptions in another language; `texts` are found by path (`tasks[].name`). */
function retold(schema: JsonSchema, texts: Texts | undefined, path = ""): JsonSchema {
  if (texts === undefined) return schema;
  const description = texts[path];
  const parts = mapParts(schema, (part, step) => retold(part, texts, `${path}${step}`.replace(/^\./, "")));
  return description === undefined ? parts : { ...parts, description };
}

/** A param, a return, or a part of one, as the seed manifests write them. */
export interface SeedField {
  name?: string;
  type: string;
  description?: string;
  required?: true;
  default?: unknown;
  items?: SeedField;
  properties?: Record<string, SeedField>;
}

/**
 * The tool in the format of the agent tools' seed manifests (seeds 000, 001, 003), in their language.
 * @param options.additions whether to keep the parameters and returns that the tool's seed does not have
 */
export function seedManifest(contract: Contract, options: { additions: boolean }) {
  const { name, type, group, main } = contract;
  const { title, description, category, input, output } = contract.locales["zh-CN"];
  const omitted = options.additions ? undefined : contract.additions;
  const params = retold(annotatedInputSchema(contract), input);
  const returns = retold(annotatedOutputSchema(contract), output);
  return {
    name,
    title,
    description,
    type,
    category,
    group,
    main,
    params: seedList(params, (param) => params.required?.includes(param) === true, omitted?.input),
    returns: seedList(returns, (name) => returns.properties?.[name]?.["x-seed-required"] === true, omitted?.output),
  };
}

function seedList(
  schema: JsonSchema,
  isRequired: (name: string) => boolean,
  omitted: readonly string[] = [],
): SeedField[] {
  return Object.entries(schema.properties ?? {})
    .filter(([name]) => !omitted.includes(name))
    .map(([name, property]) => ({
      name,
      ...seedField(property, name, omitted),
      ...(isRequired(name) && { required: true }),
    }));
}

function seedField(schema: JsonSchema, path: string, omitted: readonly string[]): SeedField {
  return {
    type: seedType(schema),
    ...(schema.description !== undefined && { description: schema.description }),
    ...(schema.default !== undefined && { default: schema.default }),
    ...(schema.items && { items: seedField(schema.items, `${path}[]`, omitted) }),
    ...(schema.properties && { properties: seedProperties(schema, path, omitted) }),
  };
}

/** Inside items, the seeds keep `required` beside `type`. What has a default is never asked for. */
function seedProperties(schema: JsonSchema, path: string, omitted: readonly string[]): Record<string, SeedField> {
  const kept = Object.entries(schema.properties ?? {}).filter(([name]) => !omitted.includes(`${path}.${name}`));
  return Object.fromEntries(
    kept.map(([name, property]) => {
      const required = property.default === undefined && schema.required?.includes(name);
      return [name, { ...seedField(property, `${path}.${name}`, omitted), ...(required && { required: true }) }];
    }),
  );
}

/** The seeds know one kind of number. */
const seedType = ({ type = "string" }: JsonSchema) => (type === "integer" ? "number" : type);
