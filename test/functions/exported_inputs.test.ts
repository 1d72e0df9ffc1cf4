import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import * as z from "zod";
import type { Contract } from "../../functions/_runtime/contract.ts";
import { ToolError } from "../../functions/_runtime/errors.ts";
import { readInput } from "../../functions/_runtime/input.ts";
import { inputSchema } from "../../functions/_runtime/schema.ts";
import { contracts } from "../../functions/tools.ts";
import { startTestSystem } from "../system.ts";
import { type Exported, fetchFormats } from "./exported.ts";
import { type AnySchema, anyJson, anyOf } from "./schema_arbitrary.ts";
import { expectWellFormed, gatewayEvent, run } from "./wire.ts";

/*
 * Whoever builds a call from an exported schema alone is understood, and what is understood keeps to the schema.
 * The exceptions are stated: what the format's loss report names, and what no schema says of a name.
 */

const system = await startTestSystem();
afterAll(() => system.stop());
const exported = (await fetchFormats(system)).filter(({ lang }) => lang === "en");
const headers = { authorization: `Bearer ${system.key}`, prefer: "respond-async" };
const ajv = new Ajv2020({ strict: false });

const statedOfNames =
  /invisible or control character|begins or ends with a space|is the placeholder|replacement character/;

const contractOf = (tool: string): Contract => {
  const found = contracts.find(({ name }) => name === tool);
  if (found === undefined) throw new Error(`There is no ${tool}.`);
  return found;
};

/** What was read, or why it was refused. */
function readOf(contract: Contract, value: unknown): Record<string, unknown> | ToolError {
  try {
    return readInput(contract, structuredClone(value));
  } catch (error) {
    if (error instanceof ToolError) return error;
    throw error;
  }
}

const particulars = z.object({
  issues: z.array(z.object({ path: z.string(), message: z.string() })).default([]),
  field: z.string().optional(),
});

/** The faults that neither the loss report nor a rule about names explains; paths without indices. */
function unexplained({ particulars: { details } }: ToolError, { losses: { keywords } }: Exported): string[] {
  const { issues, field } = particulars.parse(details);
  const lengths = new Set([...(keywords.minLength ?? []), ...(keywords.maxLength ?? [])]);
  const open = new Set(keywords.additionalProperties ?? []);
  const isExplained = (path: string, message: string) =>
    lengths.has(path) || statedOfNames.test(message) || (path.endsWith("undeclared") && open.has(parentOf(path)));
  return [...issues, ...(field === undefined ? [] : [{ path: field, message: "" }])]
    .map(({ path, message }) => ({ path: path.replaceAll(/\[\d+\]/g, "[]"), message }))
    .filter(({ path, message }) => !isExplained(path, message))
    .map(({ path, message }) => `${path}: ${message}`);
}

const parentOf = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf(".")));

describe.each(exported)("$format of $name", (tool) => {
  const contract = contractOf(tool.name);

  test("allows nothing that the tool does not read, but for what it reports as lost", () => {
    fc.assert(
      fc.property(anyOf(tool.input), (value) => {
        const read = readOf(contract, value);
        if (read instanceof ToolError) expect(unexplained(read, tool)).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  test("allows all that the tool reads, once it is normalised", () => {
    const allows = ajv.compile(tool.input);
    fc.assert(
      fc.property(fc.oneof(anyOf(inputSchema(contract)), anyJson(inputSchema(contract))), (value) => {
        const read = readOf(contract, value);
        if (!(read instanceof ToolError)) expectAllowed(allows, complete(tool.input, read));
      }),
      { numRuns: 40 },
    );
  });
});

describe.each(contracts)("the definition of $name", (contract: Contract) => {
  test("allows all that the tool reads, once it is normalised", () => {
    const allows = ajv.compile(inputSchema(contract));
    fc.assert(
      fc.property(fc.oneof(anyOf(inputSchema(contract)), anyJson(inputSchema(contract))), (value) => {
        const read = readOf(contract, value);
        if (!(read instanceof ToolError)) expectAllowed(allows, read);
      }),
      { numRuns: 150 },
    );
  });
});

const refusal = z.object({
  type: z.string().optional(),
  message: z.string().default(""),
  details: z.object({ issues: z.unknown() }).partial().optional(),
});

describe.each(exported.filter(({ format }) => format === "openai"))("$name, called in strict mode", (tool) => {
  const contract = contractOf(tool.name);
  const handler = system.functions.tools.get(tool.name);

  test("is run or refused for a reason of its own, never for its input", async () => {
    await fc.assert(
      fc.asyncProperty(anyOf(bounded(tool.input, inputSchema(contract))), async (value) => {
        const answer = await run(handler, gatewayEvent({ body: JSON.stringify(value), headers }));
        expectWellFormed(contract, answer, JSON.stringify(value));
        const { type, message, details } = refusal.parse(answer.body.error ?? {});
        // Reading lists its faults. A rule of the tool's own, which no schema can say, names its parameter first.
        const ownRule = details?.issues === undefined ? /^[A-Za-z_]+: / : statedOfNames;
        if (type === "INVALID_INPUT") expect(message).toMatch(ownRule);
      }),
      { numRuns: 8 },
    );
  });
});

function expectAllowed(allows: ValidateFunction, value: unknown): void {
  expect(allows(value), `${ajv.errorsText(allows.errors)}: ${JSON.stringify(value)}`).toBe(true);
}

/** With null for whatever a schema requires and the value leaves out, as strict mode writes it. */
function complete(schema: AnySchema, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((entry) => complete(schema.items ?? {}, entry));
  if (typeof value !== "object" || value === null) return value;
  const given = value as Record<string, unknown>;
  const missing = (schema.required ?? []).filter((name) => given[name] === undefined);
  const present = Object.entries(given).filter(([, entry]) => entry !== undefined);
  return Object.fromEntries([
    ...present.map(([name, entry]) => [name, complete(schema.properties?.[name] ?? {}, entry)]),
    ...missing.map((name) => [name, null]),
  ]);
}

/** The schema with the lengths that strict mode can't say. */
function bounded(schema: AnySchema, full: AnySchema): AnySchema {
  const { minLength, maxLength, properties = {}, items } = full;
  return {
    ...schema,
    ...(minLength !== undefined && { minLength }),
    ...(maxLength !== undefined && { maxLength }),
    ...(schema.properties && {
      properties: Object.fromEntries(
        Object.entries(schema.properties).map(([name, property]) => [name, bounded(property, properties[name] ?? {})]),
      ),
    }),
    ...(schema.items && { items: bounded(schema.items, items ?? {}) }),
  };
}
