import { execFile } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";
import { contracts } from "../../functions/tools.ts";
import { startTestSystem } from "../system.ts";
import { toolsFolder } from "./tools_folder.ts";

/* The document as its readers take it: a linter, and the generator of a typed client that then calls the system. */

const tools = toolsFolder();
const program = mkdtempSync(join(tools, "program-"));
const system = await startTestSystem();
afterAll(async () => {
  await system.stop();
  rmSync(program, { recursive: true });
});

const exec = promisify(execFile);

/** Runs an installed tool, on the Node that runs this; answers what it printed. @throws {Error} with that, when it fails */
async function run(script: string, ...args: string[]): Promise<string> {
  const env = {
    ...process.env,
    SWITCHBOARD_URL: system.url,
    SWITCHBOARD_KEY: system.key,
    REDOCLY_TELEMETRY: "off",
    REDOCLY_SUPPRESS_UPDATE_NOTICE: "true",
  };
  const done = exec(process.execPath, [script, ...args], { cwd: program, env });
  const { stdout } = await done.catch((error: { stdout: string; stderr: string }) => {
    throw new Error(`${script} failed:\n${error.stdout}${error.stderr}`);
  });
  return stdout;
}

const installed = (path: string) => join(tools, "node_modules", path);
const lint = (file: string) => run(installed("@redocly/cli/bin/cli.js"), "lint", file, "--extends=recommended-strict");

async function fetchDocument(lang: string): Promise<string> {
  const response = await fetch(`${system.url}/openapi.json?lang=${lang}`);
  const file = join(program, `openapi-${lang}.json`);
  writeFileSync(file, await response.text());
  return file;
}

test.each(["en", "zh-CN"])("a linter finds nothing to say about the document in %s", async (lang) => {
  expect(await lint(await fetchDocument(lang))).not.toMatch(/warning|error/i);
});

test("the linter would say so", async () => {
  const document = JSON.parse(readFileSync(await fetchDocument("en"), "utf8"));
  const { post } = document.paths["/v1/tools/call_agent"];
  const file = join(program, "wrong.json");
  for (const wrong of [{ responses: {} }, { requestBody: { content: {}, schema: "x" } }, { operationId: "get_call" }]) {
    document.paths["/v1/tools/call_agent"].post = { ...post, ...wrong };
    writeFileSync(file, JSON.stringify(document));
    await expect(lint(file), JSON.stringify(wrong)).rejects.toThrow("failed");
  }
});

test("a client that is generated from it compiles, refuses wrong calls, and calls the system", async () => {
  for (const file of ["client.ts", "process.d.ts", "tsconfig.json"]) {
    copyFileSync(join(import.meta.dirname, "client", file), join(program, file));
  }
  // What has a default may be left out of a request.
  const options = ["--default-non-nullable=false", "--output", join(program, "api.d.ts")];
  await run(installed("openapi-typescript/bin/cli.js"), await fetchDocument("en"), ...options);

  await run(installed("typescript/bin/tsc"), "--project", program);
  const printed = await run(join(program, "client.ts"));

  expect(JSON.parse(printed)).toEqual({
    accepted: 202,
    reply: "Read: Two sentences, please.",
    refusal: "RECEIVER_NOT_FOUND",
    isForeign: false,
    tools: contracts.filter(({ audience }) => audience === "agent").length,
    health: "ok",
  });
});
