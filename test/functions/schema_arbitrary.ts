import fc from "fast-check";
import type { JsonSchema } from "../../functions/_runtime/schema.ts";

/** A schema as any of the catalog's formats writes it: a type may be a list then, and an enum hold null. */
export interface AnySchema extends Omit<JsonSchema, "type" | "enum" | "properties" | "items"> {
  type?: string | string[];
  enum?: unknown[];
  properties?: Record<string, AnySchema>;
  items?: AnySchema;
}

/** Any value that a reader of the schema may send: what is optional may be absent or null. */
export function anyOf(schema: AnySchema): fc.Arbitrary<unknown> {
  const { type, minimum = -(2 ** 31), maximum = 2 ** 31, minLength = 0, maxLength, maxItems = 10 } = schema;
  if (Array.isArray(type)) return fc.oneof(...type.map((one) => anyOf({ ...schema, type: one })));
  switch (type) {
    case "null":
      return fc.constant(null);
    case "object":
      return objectOf(schema);
    case "array":
      return fc.array(anyOf(schema.items ?? {}), { maxLength: Math.min(3, maxItems) });
    case "integer":
    case "number":
      return fc.integer({ min: minimum, max: maximum });
    case "boolean":
      return fc.boolean();
    default:
      return schema.enum
        ? fc.constantFrom(...schema.enum.filter((value) => value !== null))
        : text(minLength, maxLength);
  }
}

/**
 * Well-formed text of any script; `binary` is every code point that is no half of a character. Where no limit is
 * said, also text that is over every limit.
 */
const text = (minLength: number, maxLength = Number.POSITIVE_INFINITY) =>
  fc.oneof(
    ...(maxLength === Number.POSITIVE_INFINITY ? [fc.constantFrom("长".repeat(3_000), "x".repeat(70_000))] : []),
    ...(["grapheme", "binary"] as const).map((unit) =>
      fc.string({ unit, minLength, maxLength: Math.min(20, maxLength) }),
    ),
    fc.constantFrom(
      "官网改版",
      "__proto__",
      "constructor",
      "null",
      " x ",
      "é",
      "é",
      "a#b%23",
      "[1,2]",
      "{}",
      "10",
      "true",
    ),
  );

function objectOf(schema: AnySchema): fc.Arbitrary<Record<string, unknown>> {
  const { properties = {}, required = [], additionalProperties } = schema;
  const fields = Object.entries(properties).map(([name, property]) => {
    const value = anyOf(property);
    return [name, required.includes(name) ? value : fc.option(value)] as const;
  });
  const undeclared = additionalProperties === false ? [] : [["undeclared", fc.jsonValue()] as const];
  return fc.record(Object.fromEntries([...fields, ...undeclared]), { requiredKeys: required });
}

/** JSON of any shape, often with parameter names of the tool in it. */
export const anyJson = (schema: JsonSchema): fc.Arbitrary<unknown> => {
  const name = fc.constantFrom(...Object.keys(schema.properties ?? {}), "no_such");
  return fc.oneof(
    fc.jsonValue({ stringUnit: "binary" }),
    fc.dictionary(fc.oneof(name, fc.string()), fc.jsonValue()),
    fc.tuple(anyOf(schema), name, fc.jsonValue()).map(([right, name, wrong]) => ({
      ...(right as object),
      [name]: wrong,
    })),
  );
};
