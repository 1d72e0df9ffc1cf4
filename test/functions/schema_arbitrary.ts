import fc from "fast-check";
import type { JsonSchema } from "../../functions/_runtime/schema.ts";

/** Any value that a reader of the schema may send: what is optional may be absent or null. */
export function anyOf(schema: JsonSchema): fc.Arbitrary<unknown> {
  const { minimum = -(2 ** 31), maximum = 2 ** 31, minLength = 0, maxLength = 1_000, maxItems = 10 } = schema;
  switch (schema.type) {
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
      return schema.enum ? fc.constantFrom(...schema.enum) : text(minLength, maxLength);
  }
}

/** Well-formed text of any script; `binary` is every code point that is no half of a character. */
const text = (minLength: number, maxLength: number) =>
  fc.oneof(
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

function objectOf({ properties = {}, required = [] }: JsonSchema): fc.Arbitrary<Record<string, unknown>> {
  const fields = Object.entries(properties).map(([name, property]) => {
    const value = anyOf(property);
    return [name, required.includes(name) ? value : fc.option(value)] as const;
  });
  return fc.record(Object.fromEntries(fields), { requiredKeys: required });
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
