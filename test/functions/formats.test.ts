import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { type Contract, defineContract } from "../../functions/_runtime/contract.ts";
import { readInput } from "../../functions/_runtime/input.ts";
import { list, one } from "../../functions/_workers/catalog/catalog.ts";
import { contracts, permissions } from "../../functions/tools.ts";
import { startTestSystem } from "../system.ts";
import { type Exported, everyPlace, exportedTools, fetchFormats, platformFormats } from "./exported.ts";
import { manifests, readManifest } from "./manifest_reader.ts";

/* The catalog's formats for model platforms, held to each platform's own rules, as they come over the wire. */

const system = await startTestSystem();
afterAll(() => system.stop());
const exported = await fetchFormats(system);
const ajv = new Ajv2020({ strict: false });
const of = (...formats: string[]) => exported.filter(({ format }) => formats.includes(format));
const keywordsOf = ({ input }: Exported) => new Set(everyPlace(input).flatMap(({ schema }) => Object.keys(schema)));

/** Some tool with another input, and what else is said. */
function toolWith(input: z.ZodObject, more: Partial<Contract> = {}): Contract {
  const { speaker: _, echo: __, ...base } = contracts[0] as Contract;
  return defineContract({ ...base, name: "some_tool", input, ...more });
}

const exportAs = (format: string, contract: Contract) => list([contract], permissions, { format });

describe("every platform's format", () => {
  test("holds each tool for agents once, in both languages", () => {
    const names = contracts.filter(({ audience }) => audience === "agent").map(({ name }) => name);
    for (const format of platformFormats) {
      for (const lang of ["en", "zh-CN"]) {
        expect(of(format).flatMap((tool) => (tool.lang === lang ? [tool.name] : []))).toEqual(names);
      }
    }
  });

  test("has names that every platform takes, and no two alike", () => {
    for (const { name, input } of exported) {
      const fields = everyPlace(input).flatMap(({ schema }) => Object.keys(schema.properties ?? {}));
      for (const each of [name, ...fields]) expect(each).toMatch(/^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/);
    }
    const folded = contracts.map(({ name }) => name.toLowerCase().replaceAll("-", "_"));
    expect(new Set(folded).size).toBe(contracts.length);
  });

  test("has the whole description, in the language asked for, within 1,024 characters; so have the fields", () => {
    for (const { name, lang, description, input } of exported) {
      const manifest = readManifest(name);
      expect(description).toBe(lang === "en" ? manifest.description : manifest.locales["zh-CN"].description);
      for (const { schema } of everyPlace(input)) {
        if (lang === "zh-CN" && schema.description) expect(schema.description).toMatch(/\p{Script=Han}/u);
        expect(String(schema.description ?? "").length).toBeLessThanOrEqual(1024);
      }
      expect(description.length).toBeLessThanOrEqual(1024);
    }
  });

  test("has a plain object at the top, and no alternatives, references or truth values for required anywhere", () => {
    for (const { input, name } of exported) {
      expect(input, name).toMatchObject({ type: "object", properties: expect.any(Object) });
      for (const { path, schema } of everyPlace(input)) {
        const about = `${name} ${path}`;
        for (const word of ["anyOf", "oneOf", "allOf", "not", "if", "$ref", "$defs", "$schema"]) {
          expect(schema, about).not.toHaveProperty([word]);
        }
        if ("required" in schema) expect(schema.required, about).toEqual(expect.any(Array));
        for (const needed of schema.required ?? []) expect(schema.properties, about).toHaveProperty(needed);
      }
    }
  });

  test("has input schemas that are JSON Schema 2020-12, and so has each manifest", () => {
    for (const { input } of exported) expect(ajv.validateSchema(input), ajv.errorsText()).toBe(true);
    for (const { inputSchema, outputSchema } of manifests) {
      expect(ajv.validateSchema(inputSchema), ajv.errorsText()).toBe(true);
      expect(ajv.validateSchema(outputSchema), ajv.errorsText()).toBe(true);
    }
  });

  test("gives one tool as a list of one, and its documents alone", async () => {
    for (const format of platformFormats) {
      const [first] = of(format);
      const answer = await system.get(`/v1/tools/${first?.name}?format=${format}`);
      expect(exportedTools(format, "en", answer)).toEqual([first]);
      expect(answer.losses).toMatchObject([{ tool: first?.name }]);
    }
  });
});

describe("openai", () => {
  const tools = of("openai", "openai-responses");
  /** OpenAI, Structured Outputs, "Supported schemas": all that strict mode allows and we use. */
  const allowed = new Set(
    "type description enum properties required additionalProperties items minimum maximum maxItems".split(" "),
  );

  test("is strict: every property is required, no other is allowed, what may be left out may be null", () => {
    for (const { name, tool, input } of tools) {
      expect(tool, name).toMatchObject(
        tool.function ? { type: "function", function: { strict: true } } : { type: "function", strict: true },
      );
      const places = new Map(everyPlace(readManifest(name).inputSchema).map(({ path, schema }) => [path, schema]));
      for (const { path, schema } of everyPlace(input)) {
        const { properties, type } = schema;
        if (properties === undefined) continue;
        expect([type].flat(), path).toContain("object");
        expect(schema.additionalProperties, path).toBe(false);
        expect(schema.required, path).toEqual(Object.keys(properties));
        for (const [field, property] of Object.entries(properties)) {
          const mayBeNull = !places.get(path)?.required?.includes(field);
          expect([property.type].flat().includes("null"), `${name} ${path}.${field}`).toBe(mayBeNull);
          if (property.enum) expect(property.enum.includes(null)).toBe(mayBeNull);
        }
      }
    }
  });

  test("uses the keywords that strict mode allows, and no others", () => {
    for (const tool of tools) expect([...keywordsOf(tool)].filter((keyword) => !allowed.has(keyword))).toEqual([]);
  });

  test("stays within the limits of strict mode on depth, properties and length of names", () => {
    for (const { input } of tools) {
      const places = everyPlace(input);
      expect(places.filter(({ schema }) => schema.properties).length).toBeLessThanOrEqual(5);
      expect(places.filter(({ path }) => path !== "" && !path.endsWith("[]")).length).toBeLessThanOrEqual(100);
      for (const { path } of places) expect(path.split(/\.|\[\]/).length).toBeLessThanOrEqual(5);
    }
  });
});

describe("anthropic", () => {
  test("has tools of its three fields, with a name that it takes and our schema whole", () => {
    for (const { name, lang, tool } of of("anthropic")) {
      expect(Object.keys(tool)).toEqual(["name", "description", "input_schema"]);
      expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
      if (lang === "en") expect(tool.input_schema).toEqual(readManifest(name).inputSchema);
    }
  });
});

describe("gemini", () => {
  const refused = ["additionalProperties", "$schema", "$ref", "$defs", "exclusiveMinimum", "exclusiveMaximum", "const"];

  test("holds no word that it refuses, no list of types, no array without items and no empty choice", () => {
    for (const { name, input } of of("gemini")) {
      for (const { path, schema } of everyPlace(input)) {
        for (const word of refused) expect(schema, `${name} ${path}`).not.toHaveProperty([word]);
        expect(schema.type, `${name} ${path}`).toEqual(expect.any(String));
        if (schema.type === "array") expect(schema.items, `${name} ${path}`).toBeDefined();
        if (schema.enum) expect(schema.enum).not.toContain("");
      }
    }
  });

  test("says less of a number above zero and of an open object, and the tool keeps to them all the same", () => {
    const contract = toolWith(z.strictObject({ line: z.int().positive().describe("Line."), flag: z.boolean() }));

    const { tools, losses } = exportAs("gemini", contract);

    const [{ input }] = exportedTools("gemini", "en", { tools }) as [Exported];
    expect(input.properties?.line).toEqual({ type: "integer", description: "Line." });
    expect(losses?.[0]?.keywords).toEqual({ additionalProperties: [""], exclusiveMinimum: ["line"] });
    expect(() => readInput(contract, { line: 0, flag: true })).toThrow("line: ");
    expect(() => readInput(contract, { line: 1, flag: true, other: 1 })).toThrow("other: ");
  });

  test("takes all functions in one tool, and none at all as no tool", () => {
    expect(exportAs("gemini", contracts[0]).tools).toMatchObject([{ functionDeclarations: [{}] }]);
    expect(list([], permissions, { format: "gemini" }).tools).toEqual([]);
  });
});

describe("mcp", () => {
  test("has output schemas, and hints that say what the governance fields say", () => {
    for (const { name, tool } of of("mcp")) {
      const { sideEffect, riskLevel, idempotent, outputSchema } = readManifest(name);
      expect(tool.outputSchema).toMatchObject({ type: "object", required: outputSchema.required });
      expect(tool.annotations).toEqual({
        title: tool.title,
        readOnlyHint: sideEffect === "none",
        destructiveHint: riskLevel === "high",
        idempotentHint: idempotent,
        openWorldHint: sideEffect === "external",
      });
    }
  });
});

test("a tool without parameters has an empty list of properties, and no schema at all where that is refused", () => {
  const contract = toolWith(z.strictObject({}));
  const empty = { type: "object", properties: {} };

  expect(list([contract], permissions, {}).tools).toMatchObject([{ inputSchema: empty }]);
  expect(exportAs("mcp", contract).tools).toMatchObject([{ inputSchema: empty }]);
  expect(exportAs("anthropic", contract).tools).toMatchObject([{ input_schema: empty }]);
  const parameters = { ...empty, required: [], additionalProperties: false };
  expect(exportAs("openai", contract).tools).toMatchObject([{ function: { parameters } }]);
  expect(exportAs("openai-responses", contract).tools).toMatchObject([{ parameters }]);
  expect(exportAs("gemini", contract).tools).toEqual([
    { functionDeclarations: [{ name: "some_tool", description: contract.description }] },
  ]);
});

describe("operators' tools", () => {
  const operators = toolWith(z.strictObject({}), {
    audience: "operator",
    permissions: ["audit:read"],
    riskLevel: "low",
    sideEffect: "none",
    idempotent: true,
  });

  test("are in no agent's list, whatever its key allows", () => {
    for (const format of platformFormats) {
      expect(list([operators], permissions, { format })).toEqual({ tools: [], losses: [] });
      expect(() => one([operators], "some_tool", permissions, { format })).toThrow("There is no tool 'some_tool'");
    }
  });

  test("are documented to a key that has their permission", () => {
    for (const format of ["definition", "seed"]) {
      expect(one([operators], "some_tool", ["audit:read"], { format })).toMatchObject({ name: "some_tool" });
      expect(list([operators], ["agent:read"], { format }).tools).toEqual([]);
    }
  });
});

describe("the loss report", () => {
  test("names the governance fields that a platform has no place for", () => {
    for (const format of platformFormats) {
      for (const { losses } of of(format)) {
        expect(losses.fields).toEqual(expect.arrayContaining(["permissions", "requiresApproval", "riskLevel"]));
        expect(losses.fields.includes("outputSchema")).toBe(format !== "mcp");
      }
    }
  });

  test("names each keyword that is missing where our own schema has it, and none that is there", () => {
    for (const { name, format, input, losses } of exported) {
      const there = new Map(everyPlace(input).map(({ path, schema }) => [path, schema]));
      const missing = everyPlace(readManifest(name).inputSchema).flatMap(({ path, schema }) =>
        Object.keys(schema).flatMap((keyword) => (keyword in (there.get(path) ?? {}) ? [] : [`${keyword} ${path}`])),
      );
      const reported = Object.entries(losses.keywords).flatMap(([keyword, paths]) =>
        paths.map((path) => `${keyword} ${path}`),
      );
      expect(reported.sort(), `${format} ${name}`).toEqual(missing.sort());
    }
  });

  test("is empty of keywords where the schema is whole", () => {
    for (const { losses } of of("mcp", "anthropic")) expect(losses.keywords).toEqual({});
  });
});
