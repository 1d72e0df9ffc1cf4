import * as z from "zod";
import type { JsonSchema } from "../../functions/_runtime/schema.ts";
import type { WrittenSchema } from "./formats.ts";
import { type ManifestFile, refuse, shown } from "./manifest_file.ts";

/*
 * From schemas as manifests write them to those that contracts come out as: `required` as lists at the right level,
 * everything that enters bounded, and nothing that couldn't be said in a contract.
 */

type Path = readonly (string | number)[];
interface Fault {
  path: Path;
  message: string;
}

/** What bounds what a manifest leaves unbounded, so that no caller can send without end. */
const bounds = { integer: 2_147_483_647, items: 100, characters: 1024 };

const mostParameters = 10;

/** A seed's params or returns. @throws {OperatorError} naming each fault and its place */
export function schemaOfFields(
  fields: readonly (WrittenSchema & { name: string })[],
  file: ManifestFile,
  list: "params" | "returns",
): JsonSchema {
  const faults: Fault[] = [];
  const read = fields.map(
    ({ name, ...field }, index) => [name, readSchema(field, [list, index], list === "params", faults)] as const,
  );
  const names = fields.map(({ name }) => name);
  for (const [index, name] of names.entries()) {
    if (names.indexOf(name) < index)
      faults.push({ path: [list, index, "name"], message: `there is a field ${name} already.` });
  }
  const required = fields.filter((field) => field.required === true).map(({ name }) => name);
  const properties = Object.fromEntries(read);
  return whole({ type: "object", properties, required }, [list], list === "params", file, faults);
}

/** @throws {OperatorError} naming each fault and its place */
export const readInputSchema = (schema: WrittenSchema, file: ManifestFile) =>
  readWhole(schema, ["inputSchema"], true, file);
/** @throws {OperatorError} naming each fault and its place */
export const readOutputSchema = (schema: WrittenSchema, file: ManifestFile) =>
  readWhole(schema, ["outputSchema"], false, file);

function readWhole(schema: WrittenSchema, path: Path, isInput: boolean, file: ManifestFile): JsonSchema {
  const faults: Fault[] = [];
  if (schema.type !== "object") faults.push({ path: [...path, "type"], message: "this must be object." });
  return whole(readSchema(schema, path, isInput, faults), path, isInput, file, faults);
}

function whole(schema: JsonSchema, path: Path, isInput: boolean, file: ManifestFile, faults: Fault[]): JsonSchema {
  const count = Object.keys(schema.properties ?? {}).length;
  if (isInput && count > mostParameters) {
    faults.push({
      path,
      message: `a tool has at most ${mostParameters} parameters, not ${count}. Put some together in an object.`,
    });
  }
  for (const name of isInput ? (schema.required ?? []) : []) {
    if (schema.properties?.[name]?.default === undefined) continue;
    faults.push({ path, message: `${name} is required and has a default. Take one of them away.` });
  }
  if (!isInput && schema.properties?.error) {
    faults.push({ path, message: "error is what the runtime adds to an answer. Give this return another name." });
  }
  if (faults.length > 0)
    refuse(
      faults.map(({ path, message }) => ({ path, message: `${shown(path)}: ${message}` })),
      file,
    );
  return schema;
}

function readSchema(written: WrittenSchema, path: Path, isInput: boolean, faults: Fault[]): JsonSchema {
  const { required, properties, items, additionalProperties: _, default: start, ...rest } = written;
  const schema = defined({
    ...rest,
    ...(isInput &&
      rest.type === "integer" && { minimum: rest.minimum ?? -bounds.integer, maximum: rest.maximum ?? bounds.integer }),
    ...(isInput && rest.type === "array" && { maxItems: rest.maxItems ?? bounds.items }),
    ...(properties && readProperties(properties, required, path, isInput, faults)),
    ...(items && { items: readSchema(items, [...path, "items"], isInput, faults) }),
  });
  faults.push(...contradictions(schema, isInput).map((message) => ({ path, message })));
  if (rest.type === "object" && properties === undefined) {
    faults.push({ path, message: "an object needs its properties: nothing else may be in it." });
  }
  if (rest.type === "array" && items === undefined) faults.push({ path, message: "an array needs its items." });
  if (items?.description !== undefined) {
    faults.push({
      path: [...path, "items", "description"],
      message: "an array's items have no description: say it in the array's.",
    });
  }
  if (rest.enum && rest.type !== "string")
    faults.push({ path: [...path, "enum"], message: "only a string can have an enum." });
  if (start === undefined) return schema;
  return { ...schema, default: readDefault(start, schema, [...path, "default"], faults) };
}

/** Bounds between which nothing lies: such a tool could never be called. */
function contradictions(schema: JsonSchema, isInput: boolean): string[] {
  const { type, minimum, maximum, minLength, maxLength, enum: values = [] } = schema;
  const longest = maxLength ?? (isInput ? bounds.characters : Number.POSITIVE_INFINITY);
  const rules: [isBroken: boolean, fault: string][] = [
    [above(minimum, maximum), `minimum ${minimum} is more than maximum ${maximum}.`],
    [above(minLength, longest), `minLength ${minLength} is more than maxLength ${longest}.`],
    [
      type === "integer" && [minimum, maximum].some((bound) => bound !== undefined && !Number.isSafeInteger(bound)),
      "an integer's bounds are integers, at most 9007199254740991.",
    ],
    [new Set(values).size < values.length, "a value stands twice in enum."],
  ];
  return rules.filter(([isBroken]) => isBroken).map(([, fault]) => fault);
}

const above = (least: number | undefined, most: number | undefined) =>
  least !== undefined && most !== undefined && least > most;

/** The seeds' flags and JSON Schema's list come to one list (H4: a flag inside a property is no JSON Schema). */
function readProperties(
  properties: Record<string, WrittenSchema>,
  required: WrittenSchema["required"],
  path: Path,
  isInput: boolean,
  faults: Fault[],
): Pick<JsonSchema, "properties" | "required"> {
  const listed = Array.isArray(required) ? required : [];
  for (const name of listed) {
    if (!Object.hasOwn(properties, name)) {
      faults.push({ path: [...path, "required"], message: `${name} is required but is none of the properties.` });
    }
  }
  const entries = Object.entries(properties);
  return {
    properties: Object.fromEntries(
      entries.map(([name, property]) => [name, readSchema(property, [...path, "properties", name], isInput, faults)]),
    ),
    required: entries
      .filter(([name, property]) => property.required === true || listed.includes(name))
      .map(([name]) => name),
  };
}

/** A default must be valid itself: it is what the handler sees. */
function readDefault(start: unknown, schema: JsonSchema, path: Path, faults: Fault[]): unknown {
  const { error } = validator(schema).safeParse(start);
  for (const issue of error?.issues ?? []) {
    faults.push({ path, message: `the default isn't what its field allows: ${issue.message}.` });
  }
  return start;
}

/** Says what a schema says. */
export const validator = (schema: JsonSchema) =>
  z.fromJSONSchema(closed(schema) as Parameters<typeof z.fromJSONSchema>[0]);

function closed({ properties, items, ...schema }: JsonSchema): JsonSchema {
  const inside = Object.entries(properties ?? {}).map(([name, property]) => [name, closed(property)] as const);
  return {
    ...schema,
    ...(properties && { properties: Object.fromEntries(inside), additionalProperties: false }),
    ...(items && { items: closed(items) }),
  };
}

const defined = (schema: { [K in keyof JsonSchema]: JsonSchema[K] | undefined }): JsonSchema =>
  Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== undefined));
