import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import * as z from "zod";
import { ToolError } from "../../functions/_runtime/errors.ts";
import { failure } from "../../functions/_runtime/failure.ts";
import { definition } from "../../functions/_runtime/manifest.ts";
import {
  bareFailure,
  hasEnvelope,
  inputSchema,
  outputSchema,
  outputWithError,
} from "../../functions/_runtime/schema.ts";
import { contracts } from "../../functions/tools.ts";
import { everyField, everySchema, manifests, readManifest, root } from "./manifest_reader.ts";

type JsonSchemaInput = Parameters<typeof z.fromJSONSchema>[0];
const validator = (schema: object) => z.fromJSONSchema(schema as JsonSchemaInput);
const manifestsCli = (...options: string[]) =>
  spawnSync(process.execPath, [join(root, "infra/manifests.ts"), ...options], { encoding: "utf8" });

describe("manifests/", () => {
  test("says what the contracts say", () => {
    expect(manifestsCli("--check")).toMatchObject({ status: 0, stderr: "" });
  });

  describe("checked in another folder", () => {
    let dir = "";
    beforeEach(() => {
      dir = mkdtempSync(join(tmpdir(), "manifests-"));
      execFileSync(process.execPath, [join(root, "infra/manifests.ts"), "--dir", dir]);
    });
    afterEach(() => rmSync(dir, { recursive: true }));

    test("a stale manifest fails the check by name", () => {
      writeFileSync(join(dir, "call_agent.json"), "{}\n");

      const { status, stderr } = manifestsCli("--check", "--dir", dir);

      expect(status).toBe(1);
      expect(stderr).toContain("call_agent.json does not say what its contract says");
    });

    test("a manifest of no tool fails the check by name, and writing again removes it", () => {
      writeFileSync(join(dir, "old_tool.json"), "{}\n");

      const { status, stderr } = manifestsCli("--check", "--dir", dir);
      manifestsCli("--dir", dir);

      expect(status).toBe(1);
      expect(stderr).toContain("old_tool.json belongs to no tool");
      expect(readdirSync(dir)).not.toContain("old_tool.json");
    });
  });
});

test("a folder in functions/ without an underscore is a tool with contract, handler, manifest and row", () => {
  const entries = readdirSync(join(root, "functions"), { withFileTypes: true });
  const tools = entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith("_")).map(({ name }) => name);

  expect(contracts.map(({ name }) => name)).toEqual(tools.sort());
  for (const tool of tools) {
    expect(existsSync(join(root, "functions", tool, "contract.ts")), `${tool}/contract.ts`).toBe(true);
    expect(existsSync(join(root, "functions", tool, "handler.ts")), `${tool}/handler.ts`).toBe(true);
    expect(existsSync(join(root, "manifests", `${tool}.json`)), `manifests/${tool}.json`).toBe(true);
  }
});

describe.each(contracts)("$name", (contract) => {
  const manifest = readManifest(contract.name);

  test("its examples keep to its own schemas, before and after export", () => {
    for (const { input, output } of contract.examples) {
      expect(contract.input.safeParse(input).error).toBeUndefined();
      expect(outputWithError(contract).parse(output)).toEqual(output);
      expect(validator(manifest.inputSchema).safeParse(input).error).toBeUndefined();
      expect(validator(manifest.outputSchema).safeParse(output).error).toBeUndefined();
    }
  });

  test("a failed answer keeps to its output schema, even when nothing of the input was understood", () => {
    const error = new ToolError("INVALID_INPUT", "nothing was understood", { details: { issues: [1] } });

    const failed = failure(contract, error, undefined);

    const bare = hasEnvelope(contract) ? undefined : bareFailure;
    expect((bare ?? outputWithError(contract)).safeParse(failed).error).toBeUndefined();
    if (bare === undefined) expect(validator(outputSchema(contract)).safeParse(failed).error).toBeUndefined();
  });

  test("the exported input schema and the tool accept the same calls", () => {
    const exported = validator(inputSchema(contract));
    const example: Record<string, unknown> = contract.examples[0]?.input ?? {};
    const odd = fc.constantFrom<unknown>("", "x".repeat(300), null, 0, 1.5, 999_999_999, true, [], [""], [{}], {});
    const change = fc.tuple(fc.constantFrom(...Object.keys(contract.input.shape), "unknown"), odd);

    fc.assert(
      fc.property(fc.array(change, { maxLength: 3 }), fc.subarray(Object.keys(example)), (changes, kept) => {
        const call = {
          ...Object.fromEntries(kept.map((name) => [name, example[name]])),
          ...Object.fromEntries(changes),
        };
        expect(exported.safeParse(call).success).toBe(contract.input.safeParse(call).success);
      }),
    );
  });

  test("every default is valid, and a fresh copy each time", () => {
    const { input = {} } = contract.examples[0] ?? {};
    const required = new Set(manifest.inputSchema.required ?? []);
    const least = Object.fromEntries(Object.entries(input).filter(([name]) => required.has(name)));
    const first: Record<string, unknown> = contract.input.parse(least);
    const before = structuredClone(first);
    for (const value of Object.values(first)) if (Array.isArray(value)) value.push("changed");

    expect(contract.input.safeParse(before).error).toBeUndefined();
    expect(contract.input.parse(least)).toEqual(before);
  });

  test("every described field has a Chinese text, and no Chinese text is left over", () => {
    const zh = contract.locales["zh-CN"];
    const fields = (schema: typeof manifest.inputSchema) =>
      everyField(schema)
        .map(({ path }) => path)
        .filter((path) => !/^error(\.|$)/.test(path))
        .sort();

    expect(Object.keys(zh.input).sort()).toEqual(fields(manifest.inputSchema));
    expect(Object.keys(zh.output).sort()).toEqual(fields(manifest.outputSchema));
  });

  test("the Chinese definition is the English one with every text in Chinese", () => {
    const chinese = definition(contract, "zh-CN");

    expect(chinese.description).toBe(contract.locales["zh-CN"].description);
    for (const schema of [chinese.inputSchema, chinese.outputSchema]) {
      for (const { path, schema: field } of everyField(schema))
        expect(field.description, path).toMatch(/\p{Script=Han}/u);
    }
    expect(everySchema(chinese.inputSchema).map(withoutText)).toEqual(
      everySchema(manifest.inputSchema).map(withoutText),
    );
    expect(everySchema(chinese.outputSchema).map(withoutText)).toEqual(
      everySchema(manifest.outputSchema).map(withoutText),
    );
  });

  test("what it repeats of the input in a failed answer are fields that it has", () => {
    for (const [to, from] of Object.entries(contract.echo ?? {})) {
      expect(contract.output.shape).toHaveProperty(to);
      expect(contract.input.shape).toHaveProperty(from);
    }
  });
});

function withoutText({ path, schema }: ReturnType<typeof everySchema>[number]) {
  const { description, properties, items, ...rest } = schema;
  return { path, ...rest };
}

describe.each(manifests)("$name for model vendors", (manifest) => {
  const schemas = [manifest.inputSchema, manifest.outputSchema].flatMap((schema) => everySchema(schema));

  test("no description is longer than 1,024 characters, in either language", () => {
    const zh = manifest.locales["zh-CN"];
    const texts = [manifest.description, zh.description, ...Object.values(zh.input), ...Object.values(zh.output)];
    for (const text of [...texts, ...schemas.map(({ schema }) => schema.description ?? "")]) {
      expect(text.length).toBeLessThanOrEqual(1024);
    }
  });

  test("names of the tool and of its fields are what every vendor takes", () => {
    const fields = schemas.flatMap(({ schema }) => Object.keys(schema.properties ?? {}));
    for (const name of [manifest.name, ...fields]) expect(name).toMatch(/^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/);
  });

  test("its schemas use nothing that a vendor refuses", () => {
    const known =
      /^(type|description|default|enum|properties|required|additionalProperties|items|(minimum|maximum)|(min|max)Length|maxItems)$/;
    for (const { path, schema } of schemas) {
      for (const keyword of Object.keys(schema)) expect(keyword, path).toMatch(known);
      expect(typeof schema.type, path).toBe("string");
      expect([schema.minimum, schema.maximum], path).not.toContain(Number.MAX_SAFE_INTEGER);
      if (schema.type === "array") expect(schema.items, path).toBeDefined();
      if (schema.type === "object") expect(schema.properties, path).toBeDefined();
    }
  });

  test("its schemas are JSON Schema 2020-12", () => {
    const ajv = new Ajv2020();
    for (const schema of [manifest.inputSchema, manifest.outputSchema])
      expect(ajv.validateSchema(schema), ajv.errorsText()).toBe(true);
  });

  test("required is a list of the names that stand beside it", () => {
    for (const { path, schema } of schemas) {
      const { required = [], properties = {} } = schema;
      expect(Array.isArray(required), path).toBe(true);
      for (const name of required) expect(properties, path).toHaveProperty(name);
    }
  });
});

test("get_call answers every return of call_agent, in its order and of its type", () => {
  const types = (tool: string) =>
    Object.entries(readManifest(tool).outputSchema.properties ?? {})
      .filter(([name]) => name !== "error")
      .map(([name, { type }]) => `${name}: ${type}`);

  const ofCallAgent = types("call_agent");

  expect(types("get_call").slice(0, ofCallAgent.length)).toEqual(ofCallAgent);
});
