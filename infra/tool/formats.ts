import { closest, distance } from "fastest-levenshtein";
import * as z from "zod";
import { isPermission, type Permission } from "../../functions/_runtime/contract.ts";
import { type ManifestFile, parseManifest, shown } from "./manifest_file.ts";

/*
 * The two formats of the seeds, as they are written: the agent tools' manifests (seeds 000, 001, 003) and the Tool
 * Definition template (seed 002), whose optional fields are those that our own manifests/ have beside it.
 */

/** What every model vendor takes as the name of a field. */
const fieldName = z
  .string()
  .regex(
    /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/,
    "a name is made of letters, digits, _ and -, beginning with a letter or _, at most 64",
  )
  .refine(
    (name) => !(name in Object.prototype),
    "this can't be the name of a field, since every object has it already",
  );

/** Model vendors take 1,024 characters, of which `texts.ts` may need some. */
const described = z
  .string()
  .min(1)
  .max(970, "at most 970 characters: vendors take 1,024, and a mark is put to what is to be translated. Shorten it");

const count = z.int().min(0).max(1_000_000);

/** A schema as both formats write it: `required` is JSON Schema's list, or the seeds' flag beside `type`. */
export interface WrittenSchema {
  type: "string" | "number" | "integer" | "boolean" | "array" | "object";
  description?: string | undefined;
  required?: boolean | string[] | undefined;
  default?: unknown;
  enum?: string[] | undefined;
  minimum?: number | undefined;
  maximum?: number | undefined;
  minLength?: number | undefined;
  maxLength?: number | undefined;
  maxItems?: number | undefined;
  additionalProperties?: false | undefined;
  properties?: Record<string, WrittenSchema> | undefined;
  items?: WrittenSchema | undefined;
}

const schemaFields = {
  type: z.enum(["string", "number", "integer", "boolean", "array", "object"]),
  description: described.optional(),
  required: z
    .union(
      [z.boolean(), z.array(z.string())],
      "true or false for this field, or on an object the list of those required in it",
    )
    .optional(),
  default: z.json().optional(),
  enum: z.array(z.string()).min(1).optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  minLength: count.optional(),
  maxLength: count.optional(),
  maxItems: count.optional(),
  additionalProperties: z.literal(false).optional(),
  get properties() {
    return z.record(fieldName, schema).optional();
  },
  get items() {
    return schema.optional();
  },
};
const schema: z.ZodType<WrittenSchema> = z.lazy(() => z.strictObject(schemaFields));
const field = z.strictObject({ name: fieldName, ...schemaFields });
const line = z
  .string()
  .min(1)
  .max(200)
  .regex(/^[^\p{C}]*$/u, "this is one line, without control characters");

const seedManifest = z.strictObject({
  name: z.string(),
  title: line,
  description: described,
  type: z.literal("function").default("function"),
  category: line,
  group: line,
  main: line.default("./index.js"),
  params: z.array(field).default([]),
  returns: z.array(field).default([]),
});
export type SeedManifest = z.output<typeof seedManifest>;

const permission = z
  .string()
  .refine(isPermission, "a permission looks like repo:read, in lower case") as z.ZodType<Permission>;
const example = z.strictObject({ input: z.record(z.string(), z.json()), output: z.record(z.string(), z.json()) });

const toolDefinition = z.strictObject({
  name: z.string(),
  title: line.optional(),
  displayName: line,
  description: described,
  version: z.string().regex(/^\d+\.\d+\.\d+$/, "a version looks like 1.0.0"),
  type: z.literal("function").default("function"),
  category: line.optional(),
  group: line.optional(),
  main: line.default("./index.js"),
  audience: z.enum(["agent", "operator"]).default("agent"),
  riskLevel: z.enum(["low", "medium", "high"]),
  idempotent: z.boolean(),
  sideEffect: z.enum(["none", "internal", "external"]),
  requiresApproval: z.boolean(),
  permissions: z.array(permission).min(1),
  inputSchema: schema,
  outputSchema: schema,
  errorModel: z.record(
    z.string().regex(/^[A-Z]+(_[A-Z]+)*$/, "a type of error looks like FILE_NOT_FOUND"),
    z.string().min(1).max(1000),
  ),
  examples: z.array(example).default([]),
});
export type ToolDefinition = z.output<typeof toolDefinition>;

/** The manifest in whichever format it is written. @throws {OperatorError} naming each fault and its place */
export function readFormat(file: ManifestFile): { seed: SeedManifest } | { definition: ToolDefinition } {
  const keys = typeof file.value === "object" && file.value !== null ? Object.keys(file.value) : [];
  const isDefinition = keys.some((key) => key === "inputSchema" || key === "outputSchema");
  if (!isDefinition) return { seed: parseManifest(seedManifest, file, explained(Object.keys(seedManifest.shape))) };
  return { definition: parseManifest(toolDefinition, file, explained(Object.keys(toolDefinition.shape))) };
}

const inSchemas = ["name", ...Object.keys(schemaFields)];

/** JSON Schema that some model vendor refuses, or that this project's contracts keep out for another reason. */
const unsayable =
  /^(\$.*|(any|one|all)Of|not|if|then|else|const|format|pattern|title|examples|nullable|(min|unique)Items|exclusive.*|multipleOf|prefixItems|.*Properties)$/;

function explained(topKeys: readonly string[]) {
  return (issue: z.core.$ZodIssue): { path: (string | number)[]; message: string }[] => {
    const path = issue.path.map((step) => (typeof step === "symbol" ? String(step) : step));
    if (issue.code !== "unrecognized_keys") return [{ path, message: `${shown(path)}: ${issue.message}` }];
    return issue.keys.map((key) => ({ path: [...path, key], message: unknownKey(key, path, topKeys) }));
  };
}

function unknownKey(key: string, path: (string | number)[], topKeys: readonly string[]): string {
  const where = shown([...path, key]);
  if (path.length > 0 && unsayable.test(key)) {
    return `${where}: a contract can't say this, since some model vendors refuse it. Leave it out and check it in the handler.`;
  }
  const names = path.length === 0 ? topKeys : path[0] === "examples" ? ["input", "output"] : inSchemas;
  const near = closest(key, names);
  const meant = distance(key, near) <= 3 ? `did you mean "${near}"?` : `known are ${names.join(", ")}.`;
  return `${where}: there is no such key; ${meant}`;
}
