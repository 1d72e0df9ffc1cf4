import { type ParseError, parse } from "jsonc-parser";
import { describe, expect, test } from "vitest";
import { type SeedField, seedManifest } from "../../functions/_runtime/manifest.ts";
import type { JsonSchema } from "../../functions/_runtime/schema.ts";
import { contracts } from "../../functions/tools.ts";
import { type Manifest, manifests, readManifest, readSeed } from "./manifest_reader.ts";

interface Seed {
  name: string;
  title: string;
  description: string;
  type: string;
  category: string;
  group: string;
  main: string;
  params: SeedField[];
  returns: SeedField[];
}

/** The seeds are JSON with `//` comments, and strings that hold anything. */
function readJsonc(text: string): unknown {
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors);
  expect(errors).toEqual([]);
  return value;
}

/** Type and default of a seed's field, and of all inside it, as a JSON Schema says them. */
function expectSame(field: SeedField, schema: JsonSchema | undefined): void {
  expect(schema?.type).toBe(field.type);
  expect(schema?.default).toEqual(field.default);
  if (field.items) expectSame(field.items, schema?.items);
  for (const [name, inner] of Object.entries(field.properties ?? {})) {
    expectSame(inner, schema?.properties?.[name]);
    expect(schema?.required?.includes(name) ?? false).toBe(inner.required ?? false);
  }
}

/** Every text in a seed's field by its path, as locales keep them. */
function textsOf(field: SeedField, path: string): [path: string, text: string | undefined][] {
  const properties = Object.entries(field.properties ?? {});
  return [
    ...(field.description === undefined ? [] : [[path, field.description] as [string, string]]),
    ...(field.items ? textsOf(field.items, `${path}[]`) : []),
    ...properties.flatMap(([name, inner]) => textsOf(inner, `${path}.${name}`)),
  ];
}

describe.each(["call_agent", "assign_agent_work", "get_agent_status"])("seed of %s", (tool) => {
  const seed = readJsonc(readSeed(`${tool}.jsonc`)) as Seed;
  const manifest = readManifest(tool);
  const zh = manifest.locales["zh-CN"];

  test("its name, type, group and main file are ours, its title, description and category our Chinese ones", () => {
    const { name, type, group, main } = manifest;
    const { title, description, category } = zh;

    expect({ name, title, description, type, category, group, main }).toEqual({
      ...seed,
      params: undefined,
      returns: undefined,
    });
  });

  test.each(seed.params)("parameter $name has its type, requiredness, default, nested items and texts", (param) => {
    const { properties, required } = manifest.inputSchema;
    const name = param.name ?? "";

    expectSame(param, properties?.[name]);
    expect(required?.includes(name)).toBe(param.required ?? false);
    expect(zh.input).toMatchObject(Object.fromEntries(textsOf(param, name)));
  });

  test.each(seed.returns)(
    "return $name has its type, default, nested items and texts, and is always present",
    (field) => {
      const { properties, required } = manifest.outputSchema;
      const name = field.name ?? "";

      expectSame(field, properties?.[name]);
      expect(required).toContain(name);
      expect(zh.output).toMatchObject(Object.fromEntries(textsOf(field, name)));
    },
  );

  test("the seed format without our additions is the seed's document again, in its order", () => {
    const contract = contracts.find(({ name }) => name === tool);
    if (contract === undefined) throw new Error(`${tool} has no contract`);

    const exported = JSON.parse(JSON.stringify(seedManifest(contract, { additions: false }))) as Seed;

    expect(exported).toStrictEqual(seed);
    expect(exported.params.map(({ name }) => name)).toEqual(seed.params.map(({ name }) => name));
    expect(exported.returns.map(({ name }) => name)).toEqual(seed.returns.map(({ name }) => name));
  });

  test("the seed format with our additions holds every parameter and return that the tool has", () => {
    const contract = contracts.find(({ name }) => name === tool);
    if (contract === undefined) throw new Error(`${tool} has no contract`);

    const { params, returns } = seedManifest(contract, { additions: true });

    expect(params.map(({ name }) => name)).toEqual(Object.keys(contract.input.shape));
    expect(returns.map(({ name }) => name)).toEqual(Object.keys(contract.output.shape));
  });
});

describe("Tool Definition template", () => {
  const text = readSeed("tool_definition_template.txt");
  const template = readJsonc(text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1)) as Record<string, unknown>;
  const kind = (value: unknown) => (Array.isArray(value) ? "array" : typeof value);
  const kinds = (value: object) => Object.fromEntries(Object.entries(value).map(([key, part]) => [key, kind(part)]));

  test.each(manifests)("$name has every field of the template, of the same kind", (manifest) => {
    expect(kinds(manifest)).toMatchObject(kinds(template));
  });

  test("read_file_range is the template's own tool, and adds only what is optional", () => {
    const manifest = readManifest("read_file_range");
    const { description, errorModel, ...same } = template as unknown as Manifest;

    expect(manifest).toMatchObject(same);
    expect(manifest.description.startsWith(description)).toBe(true);
    for (const [type, text] of Object.entries(errorModel)) {
      expect(manifest.errorModel[type]?.startsWith(text), type).toBe(true);
    }
  });

  test.each(manifests)("$name states its fields in the template's form", (manifest) => {
    expect(manifest.version).toMatch(/^\d+\.\d+\.\d+$/);
    expect(["low", "medium", "high"]).toContain(manifest.riskLevel);
    expect(["none", "internal", "external"]).toContain(manifest.sideEffect);
    expect(manifest.permissions).not.toHaveLength(0);
    for (const permission of manifest.permissions) expect(permission).toMatch(/^[a-z][a-z0-9_]*:[a-z][a-z0-9_]*$/);
    for (const type of Object.keys(manifest.errorModel)) expect(type).toMatch(/^[A-Z]+(_[A-Z]+)*$/);
    for (const schema of [manifest.inputSchema, manifest.outputSchema]) {
      expect(schema).toMatchObject({ type: "object", properties: expect.any(Object) });
    }
    expect(manifest.examples).not.toHaveLength(0);
    for (const example of manifest.examples) expect(Object.keys(example)).toEqual(["input", "output"]);
  });
});
