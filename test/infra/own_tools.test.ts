import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { parse } from "jsonc-parser";
import { afterAll, describe, expect, test, vi } from "vitest";
import type { Manifest } from "../functions/manifest_reader.ts";
import { startProcess } from "../local/start_process.ts";
import { copyProject, copyWithoutTools, type ProjectCopy } from "./project_copy.ts";
import { root } from "./synthesized.ts";

/* `npm run tool`, in copies of this project. */

vi.setConfig({ testTimeout: 240_000, hookTimeout: 60_000 });

const copies: ProjectCopy[] = [];
afterAll(() => {
  for (const copy of copies) copy.remove();
});

const kept = (copy: ProjectCopy) => {
  copies.push(copy);
  return copy;
};
const tool = (copy: ProjectCopy, ...args: string[]) => copy.run("infra/tool.ts", ...args);
const seed = (file: string) => join(root, "test/seeds", file);

interface Refused {
  error: { type: string; message: string };
}

/** What a running copy answers to a request with its own key. */
async function ask(copy: ProjectCopy, requests: readonly [path: string, body?: unknown][]) {
  const running = await startProcess([], {}, undefined, copy.folder);
  try {
    const answers: { status: number; body: unknown }[] = [];
    for (const [path, body] of requests) {
      const response = await fetch(running.url + path, {
        headers: { authorization: `Bearer ${running.key}`, "content-type": "application/json" },
        ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
      });
      answers.push({ status: response.status, body: await response.json() });
    }
    return answers;
  } finally {
    await running.stop();
  }
}

/** `value` without what stands at a path of keys; 0 is the first entry of a list. */
function without(value: unknown, [step, ...inside]: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((entry) => without(entry, [step ?? "", ...inside]));
  const fields = { ...(value as Record<string, unknown>) };
  if (step !== undefined && inside.length > 0) fields[step] = without(fields[step], inside);
  else if (step !== undefined) delete fields[step];
  return fields;
}

describe.each([
  ["call_agent", "call_agent.jsonc", ["session_id", "receiver", "content"]],
  ["assign_agent_work", "assign_agent_work.jsonc", ["leader", "tasks.executor"]],
  ["get_agent_status", "get_agent_status.jsonc", ["agent_name", "user_name"]],
  ["read_file_range", "tool_definition_template.txt", ["repositoryId", "startLine"]],
])("%s, imported from its seed into an empty copy of the project,", (name, file, required) => {
  const copy = kept(copyWithoutTools());
  const imported = tool(copy, "import", seed(file));
  const manifest = () => JSON.parse(copy.read(`manifests/${name}.json`)) as Manifest;

  test("has contract, handler, test, manifest and row, formatted and of right types", () => {
    expect(imported).toMatchObject({ status: 0, stderr: "" });
    expect(copy.read("functions/tools.ts")).toContain(`from "./${name}/contract.ts"`);
    for (const made of [`functions/${name}`, `test/functions/${name}.test.ts`, `manifests/${name}.json`])
      expect(copy.run("node_modules/@biomejs/biome/bin/biome", "ci", "--vcs-enabled=false", made).status, made).toBe(0);
  });

  test("has schemas of JSON Schema 2020-12, with no flag left inside a property", () => {
    const ajv = new Ajv2020();
    const { inputSchema, outputSchema } = manifest();
    for (const schema of [inputSchema, outputSchema]) expect(ajv.validateSchema(schema), ajv.errorsText()).toBe(true);
    expect(JSON.stringify([inputSchema, outputSchema])).not.toMatch(/"required":(true|false)/);
  });

  test("starts, is in the catalog, and enforces what its manifest says", async () => {
    const { input } = manifest().examples[0] ?? { input: {} };
    const path = `/v1/tools/${name}`;
    const wrong = required.map((missing) => [path, without(input, missing.split("."))] as [string, unknown]);

    const [listed, asSeed, right, ...wrongs] = await ask(copy, [
      [path],
      [`${path}?format=seed&additions=false`],
      [path, input],
      [path, { ...input, no_such: 1 }],
      ...wrong,
    ]);

    expect(listed).toEqual({ status: 200, body: manifest() });
    if (file.endsWith(".jsonc")) expect(asSeed?.body).toEqual(parse(readSeed(file)));
    expect(right).toMatchObject({ status: 501, body: { error: { type: "NOT_IMPLEMENTED" } } });
    for (const [index, { status, body }] of wrongs.entries()) {
      expect({ status, type: (body as Refused).error.type }).toEqual({ status: 400, type: "INVALID_INPUT" });
      expect((body as Refused).error.message).toContain(["no_such", ...required][index]?.split(".").at(-1));
    }
  });

  test("is deployed by the app as it is: its function, its route, its alarm", () => {
    const { status, stderr } = copy.run("node_modules/aws-cdk/bin/cdk", "synth", "--quiet");
    const template = (stack: string) => copy.read(`.cdk.out/switchboard-prod-${stack}.template.json`);

    expect({ status, stderr }).toMatchObject({ status: 0 });
    expect(template("tools")).toContain(`"switchboard-prod-${name}"`);
    expect(template("tools")).toContain(`"POST /v1/tools/${name}"`);
    expect(template("operations")).toContain(`"switchboard-prod-errors-${name}"`);
  });
});

const readSeed = (file: string) => readFileSync(seed(file), "utf8");

describe("in a copy of the whole project", () => {
  const copy = kept(copyProject());
  const made = tool(copy, "new", "send_invoice", "--permission", "invoice:send", "--title", "Send an invoice");

  test("a new tool passes every check of the project and every test over all tools", () => {
    expect(made).toMatchObject({ status: 0, stderr: "" });
    const changed = [...made.stdout.matchAll(/^(?:made|changed) +(\S+)$/gm)].map(([, file = ""]) => file);
    expect(changed).toHaveLength(5);
    const biome = copy.run("node_modules/@biomejs/biome/bin/biome", "ci", "--vcs-enabled=false", ...changed);
    expect(biome).toMatchObject({ status: 0 });
    expect(copy.run("node_modules/typescript/bin/tsc")).toMatchObject({ status: 0, stdout: "" });
    expect(copy.run("infra/manifests.ts", "--check")).toMatchObject({ status: 0, stderr: "" });
    expect(vitest("manifests", "checklist", "parity", "risk", "catalog", "nonsense_wire").failed).toEqual([]);
  });

  test("its own test fails, and says what is to be done, until handler and texts are written", () => {
    const { failed, reasons } = vitest("send_invoice");
    expect(failed).toEqual(["answers its examples as they say", "says everything in English and in Chinese"]);
    expect(reasons).toContain("501");

    copy.change(
      "functions/send_invoice/handler.ts",
      () => `import { serve } from "../_runtime/serve.ts";
import { contract } from "./contract.ts";

export const handler = serve(contract, async () => ({}));
`,
    );
    copy.change("functions/send_invoice/contract.ts", (text) =>
      text
        .replace(/ {4}NOT_IMPLEMENTED:\s*".*",\n/, "")
        .replaceAll(
          /TODO say what it does\. TODO say when: Use it when …/g,
          "Sends the invoice. Use it when the work is done",
        )
        .replaceAll(/待翻译：(TODO)?/g, "发送发票"),
    );
    expect(vitest("send_invoice")).toMatchObject({ failed: [] });
  });

  test("a key can hold its permission at once", () => {
    expect(copy.run("infra/keys.ts", "--help").stdout).toContain("invoice:send");
  });

  test.each<[string, string[], string]>([
    ["whose name is taken", ["new", "call_agent"], "There is functions/call_agent already."],
    ["whose manifest's name is taken", ["import", seed("call_agent.jsonc")], "There is functions/call_agent already."],
    ["whose name is no action", ["new", "invoice"], `"invoice" can't be a tool's name`],
    ["whose name a vendor refuses", ["new", "send.invoice"], `"send.invoice" can't be a tool's name`],
    ["whose name is too long to deploy", ["new", `send_${"x".repeat(40)}`], "at most 35"],
    [
      "with a permission that can't be one",
      ["new", "send_bill", "--permission", "Send"],
      "--permission must look like",
    ],
    ["of no manifest", ["import"], "import needs a manifest's file."],
    ["by a command that there isn't", ["imprt", "x"], "Did you mean import?"],
  ])("a tool %s is refused, and nothing is written", (_, args, said) => {
    const before = copy.files();
    expect(tool(copy, ...args)).toMatchObject({ status: 1, stderr: expect.stringContaining(said) });
    expect(copy.files()).toEqual(before);
  });

  test("a wrong manifest is refused by file, line and column, and nothing is written", () => {
    mkdirSync(join(copy.folder, ".cache"), { recursive: true });
    const definition = readTemplate().replace('"riskLevel": "low"', '"riskLevel": "high"');
    const wrong: [string, string, string][] = [
      ["broken.json", definition.replace('"version"', "version"), "5:3: Invalid symbol."],
      ["graded.json", definition, "6:3: what has no side effect is of low risk: set riskLevel to low."],
      [
        "example.json",
        readTemplate().replace('"startLine": 70', '"startLine": 0'),
        "58:9: this example isn't what inputSchema says",
      ],
      ["named.json", readTemplate().replace("read_file_range", "读取文件"), `2:3: "读取文件" can't be a tool's name`],
    ];
    const before = copy.files();
    for (const [file, text, said] of wrong) {
      writeFileSync(join(copy.folder, ".cache", file), text);
      const { status, stderr } = tool(copy, "import", `.cache/${file}`);
      expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining(`.cache/${file}:${said}`) });
    }
    expect(copy.files()).toEqual(before);
  });

  test("what fails half-way leaves everything as it was", () => {
    copy.change("infra/manifests.ts", (text) => `throw new Error("out of order");\n${text}`);
    const before = copy.files();
    const { status, stderr } = tool(copy, "new", "send_reminder");
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining("out of order") });
    expect(copy.files()).toEqual(before);
  });

  /** Runs test files of the copy; which tests failed, and why. */
  function vitest(...names: string[]): { failed: string[]; reasons: string } {
    const files = names.map((name) => `test/functions/${name}.test.ts`);
    const report = ".cache/report.json";
    const options = ["--project", "system", "--reporter=json", `--outputFile.json=${report}`];
    const { stderr } = copy.run("node_modules/vitest/vitest.mjs", "run", ...options, ...files);
    const { testResults } = JSON.parse(copy.read(report)) as Report;
    expect(testResults.map(({ message }) => message).join(""), stderr).toBe("");
    expect(testResults).toHaveLength(names.length);
    const failed = testResults
      .flatMap(({ assertionResults }) => assertionResults)
      .filter(({ status }) => status !== "passed");
    return {
      failed: failed.map(({ title }) => title),
      reasons: failed.flatMap(({ failureMessages }) => failureMessages).join("\n"),
    };
  }
});

interface Report {
  testResults: { message: string; assertionResults: { status: string; title: string; failureMessages: string[] }[] }[];
}

/** The template's JSON alone. */
function readTemplate(): string {
  const text = readSeed("tool_definition_template.txt");
  return text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1);
}
