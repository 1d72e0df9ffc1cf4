import { randomBytes } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Contract } from "../../functions/_runtime/contract.ts";
import { contractSource } from "../../infra/tool/sources.ts";
import { definition, draft, manifest, param, plain, refusal } from "./written.ts";

/* What a manifest from a stranger must not achieve. */

describe("a hostile manifest", () => {
  test.each(["constructor", "toString", "__defineGetter__", "__proto__"])(
    "can't have a field named %s, which every object has",
    (name) => {
      expect(refusal(() => draft(param({ name })))).toMatch(/manifest.json:\d+:\d+: params\[0\].name: .*every object/);
      const properties = `{ "type": "object", "properties": { "${name}": { "type": "string" } } }`;
      const text = JSON.stringify({ ...definition, inputSchema: "HERE" }).replace('"HERE"', properties);
      expect(refusal(() => draft(text))).toContain(name);
    },
  );

  test("may describe a field by a word that every object has", () => {
    const { texts } = draft(param({ description: "constructor" }));
    expect(texts.input.url?.en).toBe("constructor.");
  });

  test.each([
    ["minimum 5 is more than maximum 1", { type: "integer", default: undefined, minimum: 5, maximum: 1 }],
    ["minimum 3000000000 is more than maximum 2147483647", { type: "integer", default: undefined, minimum: 3e9 }],
    ["minLength 9 is more than maxLength 3", { default: undefined, minLength: 9, maxLength: 3 }],
    ["minLength 2000 is more than maxLength 1024", { default: undefined, minLength: 2000 }],
    ["bounds are integers", { type: "integer", default: undefined, minimum: 0.5 }],
    ["twice in enum", { default: undefined, enum: ["a", "b", "a"] }],
  ])("can't ask for what nobody can give: %s", (fault, changes) => {
    expect(refusal(() => draft(param(changes)))).toMatch(
      new RegExp(`^manifest.json:\\d+:\\d+: params\\[0\\]: .*${fault}`),
    );
  });

  test.each([200, 2_000, 200_000])("nested %i deep is refused by name", (depth) => {
    const items = `${'{"type":"array","items":'.repeat(depth)}{"type":"string"}${"}".repeat(depth)}`;
    const text = manifest({ params: [{ name: "a", type: "array", items: "HERE" }] }).replace('"HERE"', items);
    expect(refusal(() => draft(text))).toMatch(/^manifest.json.*: this is nested too deep/);
  });

  test("holds no half of a character, and no line break in what is one line", () => {
    expect(refusal(() => draft(param({ description: "a\ud800" })))).toMatch(
      /^manifest.json:\d+:\d+: .*half of a character/,
    );
    expect(refusal(() => draft(manifest({ title: "a\nb" })))).toMatch(/^manifest.json:\d+:\d+: title: .*one line/);
  });

  test.each([
    "`$\u007bprocess.exit(1)}`",
    "*/ }); process.exit(1); /*",
    '"); process.exit(1); ("',
    "\u2028\\\u2029",
    "$& $1 $`",
  ])("runs nothing by its texts: %j comes back as it is written", async (words) => {
    const written = draft(
      manifest({
        title: "t",
        description: words,
        params: [{ ...plain.params[0], description: words, default: words }],
      }),
    );
    const source = contractSource(written).replaceAll(
      '"../_runtime',
      `"${join(import.meta.dirname, "../../functions/_runtime")}`,
    );
    const file = join(import.meta.dirname, `hostile-${randomBytes(6).toString("hex")}.ts`);
    writeFileSync(file, source);
    try {
      const { contract } = (await import(file)) as { contract: Contract };
      expect(contract.description).toContain(words.replace(/[.]$/, ""));
      expect(contract.input.parse({})).toEqual({ url: words });
    } finally {
      rmSync(file);
    }
  });
});
