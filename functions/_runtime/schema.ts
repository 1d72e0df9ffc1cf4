import * as z from "zod";
import type { Contract } from "./contract.ts";

/** The part of JSON Schema 2020-12 that contracts come out as: inlined, and no wider than model vendors accept. */
export interface JsonSchema {
  type?: string;
  description?: string;
  default?: unknown;
  enum?: string[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: boolean | JsonSchema;
  items?: JsonSchema;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  maxItems?: number;
  /** How `input.ts` reads a string; only in annotated schemas. */
  "x-text"?: "name" | "text";
  /** Whether the seed's document marks this return as required; only in annotated schemas. */
  "x-seed-required"?: boolean;
}

const error = z
  .strictObject({
    type: z.string().describe("Type of the error, one of the tool's errorModel."),
    message: z.string().describe("What is wrong with this request."),
    hint: z.string().describe("What to do next."),
    retryable: z.boolean().describe("Whether the same request may succeed later."),
    details: z.looseObject({}).optional().describe("Facts for a program."),
  })
  .describe("Why it failed; absent when it did not.");

/** Agent tools answer in the seeds' envelope, also when they fail; repository tools in the template's plain shape. */
export const hasEnvelope = ({ output }: Contract): boolean => "code" in output.shape;

/** A tool's output as it is answered: agent tools keep their shape when they fail, and say why in `error`. */
export const outputWithError = memoised((contract) =>
  hasEnvelope(contract) ? contract.output.extend({ error: error.optional() }) : contract.output,
);

/** What a tool without the envelope answers when it fails, together with the HTTP status. */
export const bareFailure = z.strictObject({ error });

/** The input schema that callers see. */
export const inputSchema = memoised((contract) => plain(annotatedInputSchema(contract)));

/** The output schema that callers see; every return is required, since every return is always present. */
export const outputSchema = memoised((contract) => plain(annotated(outputWithError(contract), "output")));

/** The input schema with `x-text`, which says how a string is read. */
export const annotatedInputSchema = memoised(({ input }) => annotated(input, "input"));

/** The tool's own returns with `x-seed-required`. */
export const annotatedOutputSchema = memoised(({ output }) => annotated(output, "output"));

/** Converts each contract once: requests are read by these schemas. */
function memoised<V>(make: (contract: Contract) => V): (contract: Contract) => V {
  const made = new WeakMap<Contract, V>();
  return (contract) => {
    const value = made.get(contract) ?? make(contract);
    made.set(contract, value);
    return value;
  };
}

function annotated(schema: z.ZodObject, io: "input" | "output"): JsonSchema {
  const { $schema, ...converted } = z.toJSONSchema(schema, { io, override: dropSafeIntegerBounds });
  return converted as JsonSchema;
}

/** zod bounds every integer by what a double holds exactly; to a reader that is noise. */
function dropSafeIntegerBounds({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
}

/** Without our own keywords, and in the order in which people read a parameter. */
function plain({ "x-text": _text, "x-seed-required": _required, ...schema }: JsonSchema): JsonSchema {
  const { type, description, ...rest } = schema;
  const head = { ...(type !== undefined && { type }), ...(description !== undefined && { description }) };
  return mapParts({ ...head, ...rest }, plain);
}

/** A copy of `schema` whose properties and items went through `change`, which also hears where they stand. */
export function mapParts(schema: JsonSchema, change: (part: JsonSchema, step: string) => JsonSchema): JsonSchema {
  const { properties, items, ...rest } = schema;
  return {
    ...rest,
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, property]) => [name, change(property, `.${name}`)]),
      ),
    }),
    ...(items && { items: change(items, "[]") }),
  };
}
