import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import * as z from "zod";
import type { Contract } from "../../functions/_runtime/contract.ts";
import { ToolError } from "../../functions/_runtime/errors.ts";
import { readInput } from "../../functions/_runtime/input.ts";
import { annotatedInputSchema, inputSchema, type JsonSchema } from "../../functions/_runtime/schema.ts";
import { contracts } from "../../functions/tools.ts";
import { startTestSystem } from "../system.ts";
import { anyJson, anyOf } from "./schema_arbitrary.ts";
import { expectWellFormed, gatewayEvent, run } from "./wire.ts";

const system = await startTestSystem();
afterAll(() => system.stop());
const headers = { authorization: `Bearer ${system.key}`, prefer: "respond-async" };

/** For what the schema can't say, and a name may still be refused. */
const statedReasons =
  /invisible or control character|begins or ends with a space|is the placeholder|replacement character/;

describe.each(contracts)("$name", (contract: Contract) => {
  const handler = system.functions.tools.get(contract.name);
  const invoke = (value: unknown) => run(handler, gatewayEvent({ body: JSON.stringify(value), headers }));

  test("answers any JSON in its own shape, never with a 5xx", async () => {
    await fc.assert(
      fc.asyncProperty(anyJson(inputSchema(contract)), async (value) => {
        expectWellFormed(contract, await invoke(value), JSON.stringify(value));
      }),
      { numRuns: 16 },
    );
  });

  test("answers whatever its own schema allows in its own shape, never with a 5xx", async () => {
    await fc.assert(
      fc.asyncProperty(anyOf(inputSchema(contract)), async (value) => {
        expectWellFormed(contract, await invoke(value), JSON.stringify(value));
      }),
      { numRuns: 16 },
    );
  });

  test("reads whatever its own schema allows as it was sent, unless a name is refused for a stated reason", () => {
    fc.assert(
      fc.property(anyOf(inputSchema(contract)), (value) => {
        const read = attempt(() => readInput(contract, structuredClone(value)));
        if (read instanceof ToolError) expect(reasonsOf(read)).toEqual([]);
        else expect(read).toMatchObject(inNfc(annotatedInputSchema(contract), value) as object);
      }),
      { numRuns: 150 },
    );
  });

  test("reads an object, a list, a number or a truth value that was sent as its JSON text all the same", () => {
    fc.assert(
      fc.property(anyOf(inputSchema(contract)), (value) => {
        const plain = attempt(() => readInput(contract, value));
        const asTexts = attempt(() => readInput(contract, JSON.stringify(inTexts(inputSchema(contract), value))));
        if (plain instanceof ToolError) expect(asTexts).toMatchObject({ type: plain.type, message: plain.message });
        else expect(asTexts).toEqual(plain);
      }),
      { numRuns: 80 },
    );
  });
});

function attempt<T>(read: () => T): T | ToolError {
  try {
    return read();
  } catch (error) {
    if (error instanceof ToolError) return error;
    throw error;
  }
}

const issue = z.object({ path: z.string(), message: z.string() });

/** The faults that were found, other than the stated ones. */
const reasonsOf = ({ particulars }: ToolError) =>
  z
    .array(issue)
    .parse(particulars.details?.issues)
    .filter(({ message }) => !statedReasons.test(message));

/** As it is to be read: names in NFC, all other texts untouched, null as absent. */
function inNfc(schema: JsonSchema, value: unknown): unknown {
  if (typeof value === "string") return schema["x-text"] === "name" ? value.normalize("NFC") : value;
  return mapped(schema, value, inNfc);
}

/** Everything that is no text, and stands inside another value, as its JSON text. */
function inTexts(schema: JsonSchema, value: unknown): unknown {
  return mapped(schema, value, (part, inside) =>
    typeof inside === "string" ? inside : JSON.stringify(inTexts(part, inside)),
  );
}

function mapped(schema: JsonSchema, value: unknown, change: (schema: JsonSchema, value: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((entry) => change(schema.items ?? {}, entry));
  if (typeof value !== "object" || value === null) return value;
  const given = Object.entries(value).filter(([, entry]) => entry !== null);
  return Object.fromEntries(given.map(([name, entry]) => [name, change(schema.properties?.[name] ?? {}, entry)]));
}
