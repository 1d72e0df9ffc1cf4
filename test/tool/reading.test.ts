import { describe, expect, test } from "vitest";
import { readManifestFile } from "../../infra/tool/manifest_file.ts";
import { readSeed } from "../functions/manifest_reader.ts";
import { defined, definition, draft, inFolder, manifest, param, plain, refusal, value } from "./written.ts";

/* How `npm run tool -- import` reads manifests that people wrote. */

describe("a manifest's file", () => {
  test("may have comments of either kind, trailing commas, and a comment on its last line without an end", () => {
    const text = `// 工具\n{\n  /* 名称 */ "a": [1, 2,], // 中文注释 "b": 2\n  "c": "x", /* * / */\n}\n// 最后一行`;
    expect(value(text)).toEqual({ a: [1, 2], c: "x" });
  });

  test("keeps strings that look like comments", () => {
    const strings = { a: "https://h/x", b: "src/**/*.ts", c: '说 "hi" // no comment', d: "/* */", e: "\\\\" };
    expect(value(`${JSON.stringify(strings)} // "f"`)).toEqual(strings);
  });

  test("may begin with a byte order mark and have any line ends", () => {
    const text = '{\n  // 一\n  "a": 1,\n}\n';
    for (const end of ["\r\n", "\r", "\n"]) {
      expect(value(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(text.replaceAll("\n", end))]))).toEqual({
        a: 1,
      });
    }
  });

  test("may be a document with the manifest in its prose", () => {
    expect(value('附录 {E}\n\n说明 “x”\n{ "a": { "b": "}" } }\n\n• [ ] 检查？\n{ "c": 1 }\n')).toEqual({
      a: { b: "}" },
    });
    expect(value(readSeed("tool_definition_template.txt"))).toMatchObject({ name: "read_file_range" });
  });

  test.each<[what: string, content: string | Buffer, said: string]>([
    ["that ends early", '{\n  "a": [1,\n', "manifest.json:3:1: Value expected. This is not JSON"],
    ["with a mistake behind comments", '// 一\r\n/* 二\r\n*/ {\r\n  "a" 1 }', "manifest.json:4:7: Colon expected."],
    ["with a mistake in its prose's object", '说明\n\n{ "a": x }\n', "manifest.json:3:8: Invalid symbol."],
    ["with more behind it", '{ "a": 1 }\n{ "b": 2 }', "manifest.json:2:1: End of file expected."],
    [
      "with a key twice",
      '{ "a": 1,\n  "b": { "c": 1, "c": 2 } }',
      'manifest.json:2:18: "c" stands here a second time.',
    ],
    ["with a key that isn't one", '{ "__proto__": 1 }', 'manifest.json:1:3: "__proto__" can\'t be a key.'],
    ["that is no object", "[1]", "manifest.json:1:1: a manifest is a JSON object"],
    ["without any JSON", "工具", "manifest.json holds no JSON object"],
    ["that is empty", "", "manifest.json holds no JSON object"],
    ["in another encoding", Buffer.from('{ "a": "é" }', "latin1"), "manifest.json is not UTF-8."],
  ])("%s is refused by its place", (_, content, said) => {
    expect(refusal(() => value(content))).toContain(said);
  });

  test("that isn't there is refused by its name", () => {
    expect(refusal(() => readManifestFile(inFolder("gone.json")))).toBe("There is no file gone.json.");
    expect(refusal(() => readManifestFile(inFolder("")))).toContain("is a directory");
  });
});

describe("a manifest", () => {
  test.each<[what: string, content: string, said: string]>([
    ["key", manifest({ catgory: "x" }), 'manifest.json:25:3: catgory: there is no such key; did you mean "category"?'],
    [
      "key in a parameter",
      param({ requird: true }),
      'params[0].requird: there is no such key; did you mean "required"?',
    ],
    ["key in a definition", defined({ risk: "low" }), "risk: there is no such key; known are name, title,"],
  ])("with an unknown %s is refused by that key, with the nearest one or all", (_, content, said) => {
    expect(refusal(() => draft(content))).toContain(said);
  });

  test.each<[what: string, content: string, said: string]>([
    ["required that is neither flag nor list", param({ required: null }), "params[0].required: true or false"],
    ["a type that there isn't", param({ type: "text" }), "params[0].type: "],
    ["a name that a vendor refuses", param({ name: "a.b" }), "params[0].name: a name is made of letters"],
    [
      "two parameters of one name",
      manifest({ params: [plain.params[0], plain.params[0]] }),
      "params[1].name: there is",
    ],
    [
      "a default that isn't allowed",
      param({ default: 7 }),
      "params[0].default: the default isn't what its field allows",
    ],
    ["a default of what is required", param({ required: true }), "url is required and has a default"],
    ["an array without items", param({ type: "array", default: undefined }), "params[0]: an array needs its items"],
    ["an object without properties", param({ type: "object", default: undefined }), "an object needs its properties"],
    ["a pattern", param({ pattern: "^a" }), "params[0].pattern: a contract can't say this"],
    [
      "a return called error",
      manifest({ returns: [{ name: "error", type: "string" }] }),
      "error is what the runtime adds",
    ],
    ["a long description", manifest({ description: "发".repeat(971) }), "description: "],
    [
      "too many parameters",
      manifest({ params: Array.from({ length: 11 }, (_, n) => ({ name: `p${n}`, type: "string" })) }),
      "at most 10 parameters",
    ],
    [
      "a required that isn't there",
      defined({ inputSchema: { ...definition.inputSchema, required: ["form"] } }),
      "form is required but is none",
    ],
    [
      "a choice at the top",
      defined({ inputSchema: { ...definition.inputSchema, anyOf: [] } }),
      "inputSchema.anyOf: a contract can't say this",
    ],
    [
      "a permission that can't be one",
      defined({ permissions: ["send"] }),
      "permissions[0]: a permission looks like repo:read",
    ],
    ["an error that is no type", defined({ errorModel: { locked: "x" } }), "errorModel.locked: "],
  ])("with %s is refused by its place", (_, content, said) => {
    const message = refusal(() => draft(content));
    expect(message).toMatch(/^manifest\.json:\d+:\d+: /);
    expect(message).toContain(said);
  });

  test("has all its faults told at once", () => {
    const faults = refusal(() => draft(manifest({ titel: "x", group: 7, params: [{ name: "a", type: "text" }] })));
    expect(faults.split("\n")).toHaveLength(3);
  });
});

describe("a draft", () => {
  test("has the flags inside items as lists at the right level, and no flag is left", () => {
    const { input, output } = draft(readSeed("assign_agent_work.jsonc"));
    expect(input.required).toEqual(["session_id", "user_name", "leader", "content"]);
    expect(input.properties?.tasks?.items?.required).toEqual(["name", "executor", "content"]);
    expect(JSON.stringify([input, output])).not.toMatch(/"required":(true|false)/);
  });

  test("bounds what its manifest leaves open, and keeps what it says", () => {
    const params = [
      { name: "page", type: "integer", minimum: 1 },
      { name: "tags", type: "array", items: { type: "string" } },
      { name: "few", type: "array", maxItems: 3, items: { type: "string", maxLength: 5 } },
    ];
    expect(draft(manifest({ params })).input.properties).toEqual({
      page: { type: "integer", minimum: 1, maximum: 2_147_483_647 },
      tags: { type: "array", maxItems: 100, items: { type: "string" } },
      few: { type: "array", maxItems: 3, items: { type: "string", maxLength: 5 } },
    });
  });

  test("has the manifest's text in its own language, and a mark where the other is to be written", () => {
    const { texts, description, category } = draft(manifest());
    expect(texts.input.url).toEqual({ en: "TODO translate: 地址.", "zh-CN": "地址" });
    expect(category).toEqual({ en: "TODO translate: 财务", "zh-CN": "财务" });
    expect(description["zh-CN"]).toBe("把发票发给客户。");
    const english = draft(defined({}));
    expect(english.texts.input.to).toEqual({ en: "Who gets it.", "zh-CN": "待翻译：Who gets it." });
    expect(english.texts.output.sent).toEqual({ en: "TODO describe sent.", "zh-CN": "待翻译：sent" });
    expect(english.description.en).toBe(definition.description);
  });

  test("has no text over the 1,024 characters that vendors take, also with its mark", () => {
    const [longest, returns] = ["长".repeat(970), [{ name: "content", type: "string", description: "长".repeat(970) }]];
    const { description, texts } = draft(manifest({ description: longest, returns }));
    for (const { en, "zh-CN": zh } of [description, ...Object.values(texts.output)])
      expect(Math.max(en.length, zh.length)).toBeLessThanOrEqual(1024);
  });

  test("of a manifest that says nothing of its effects only reads when its name says so", () => {
    const governed = (name: string) => {
      const { riskLevel, sideEffect, idempotent, requiresApproval, permissions } = draft(manifest({ name }));
      return { riskLevel, sideEffect, idempotent, requiresApproval, permissions };
    };
    const approval = { requiresApproval: false };
    expect(governed("get_invoice")).toEqual({
      riskLevel: "low",
      sideEffect: "none",
      idempotent: true,
      ...approval,
      permissions: ["invoice:read"],
    });
    expect(governed("send_invoice")).toEqual({
      riskLevel: "medium",
      sideEffect: "external",
      idempotent: false,
      ...approval,
      permissions: ["invoice:send"],
    });
  });
});
