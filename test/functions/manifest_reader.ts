import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonSchema } from "../../functions/_runtime/schema.ts";
import { contracts } from "../../functions/tools.ts";

export const root = join(import.meta.dirname, "../..");

interface Texts {
  title: string;
  description: string;
  category: string;
  input: Record<string, string>;
  output: Record<string, string>;
}

/** A Tool Definition as a reader of manifests/ meets it: nothing but the JSON. */
export interface Manifest {
  name: string;
  title: string;
  displayName: string;
  description: string;
  version: string;
  type: string;
  category: string;
  group: string;
  main: string;
  audience: string;
  riskLevel: string;
  idempotent: boolean;
  sideEffect: string;
  requiresApproval: boolean;
  permissions: string[];
  inputSchema: JsonSchema;
  outputSchema: JsonSchema;
  errorModel: Record<string, string>;
  examples: { input: Record<string, unknown>; output: Record<string, unknown> }[];
  locales: { "zh-CN": Texts };
}

export const readManifest = (tool: string): Manifest =>
  JSON.parse(readFileSync(join(root, "manifests", `${tool}.json`), "utf8")) as Manifest;

export const manifests = contracts.map(({ name }) => readManifest(name));

/** The tools that do something already: not those whose handler is still the stub of `npm run tool`. */
export const written = contracts.filter(({ errorModel }) => !("NOT_IMPLEMENTED" in errorModel));

export const readSeed = (file: string) => readFileSync(join(root, "test/seeds", file), "utf8");

interface Place {
  /** Like `tasks[].name`; the schema itself is "". */
  path: string;
  schema: JsonSchema;
  /** The schemas around it, innermost last. */
  around: JsonSchema[];
}

/** A schema and every schema inside it. */
export function everySchema(schema: JsonSchema, path = "", around: JsonSchema[] = []): Place[] {
  const outer = [...around, schema];
  const inside = Object.entries(schema.properties ?? {}).flatMap(([name, property]) =>
    everySchema(property, path === "" ? name : `${path}.${name}`, outer),
  );
  const items = schema.items === undefined ? [] : everySchema(schema.items, `${path}[]`, outer);
  return [{ path, schema, around }, ...inside, ...items];
}

/** The places that have a name: parameters, returns, and the fields inside them. */
export const everyField = (schema: JsonSchema) =>
  everySchema(schema).filter(({ path }) => path !== "" && !path.endsWith("[]"));
