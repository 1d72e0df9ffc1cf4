import { createHash } from "node:crypto";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { type Contract, defineContract } from "../../functions/_runtime/contract.ts";
import { statusOf } from "../../functions/_runtime/errors.ts";
import { openApi } from "../../functions/_workers/catalog/openapi/document.ts";
import { page } from "../../functions/_workers/catalog/page/page.ts";
import { contracts } from "../../functions/tools.ts";
import { startTestSystem } from "../system.ts";
import { readManifest } from "./manifest_reader.ts";

/* What anybody may read without a key: the OpenAPI document and the page. test/openapi lints the former and uses it. */

const system = await startTestSystem();
afterAll(() => system.stop());

async function read(path: string, method = "GET") {
  const response = await fetch(system.url + path, { method });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const reply = z.looseObject({
  description: z.string(),
  headers: z.record(z.string(), z.unknown()).default({}),
  content: z.record(z.string(), z.object({ schema: z.record(z.string(), z.unknown()) })).default({}),
});
const operation = z.looseObject({
  operationId: z.string(),
  tags: z.array(z.string()),
  parameters: z.array(z.looseObject({ $ref: z.string().optional() })).default([]),
  responses: z.record(z.string(), reply),
});
const document = z.looseObject({
  openapi: z.literal("3.1.0"),
  paths: z.record(z.string(), z.record(z.string(), operation)),
  components: z.looseObject({}),
});

const described = document.parse(await system.get("/openapi.json"));
const ajv = new Ajv2020({ strict: false });
ajv.addSchema({ $id: "document", ...described });

/** Whether `body` is what the document says of a status of this operation. */
function faultsOf(path: string, method: string, status: number, body: unknown): unknown {
  const pointer = [path, method, "responses", String(status), "content", "application/json", "schema"]
    .map((step) => encodeURIComponent(step.replaceAll("~", "~0").replaceAll("/", "~1")))
    .join("/");
  const validate = ajv.getSchema(`document#/paths/${pointer}`);
  if (validate === undefined) return `${method} ${path} describes no ${status}`;
  return validate(body) ? undefined : validate.errors;
}

describe("/openapi.json", () => {
  test("has every route and nothing else, each operation under a name of its own", () => {
    const tools = contracts.map(({ name }) => `post /v1/tools/${name}`);
    const others = ["/v1/tools", "/v1/tools/{tool}", "/openapi.json", "/docs", "/healthz"].map((path) => `get ${path}`);
    const routes = Object.entries(described.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path}`),
    );
    const ids = Object.values(described.paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    );

    expect(routes.sort()).toEqual([...tools, ...others, "post /mcp"].sort());
    expect(new Set(ids).size).toBe(ids.length);
  });

  test.each(contracts)(
    "describes $name: its texts, headers, and each error with what to do next",
    (contract: Contract) => {
      const { name, errorModel, defaultWaitS, sideEffect, audience } = contract;
      const { post } = described.paths[`/v1/tools/${name}`] ?? {};

      expect(post).toMatchObject({ operationId: name, description: readManifest(name).description, tags: [audience] });
      const parameters = post?.parameters.map(({ $ref }) => $ref?.split("/").at(-1));
      expect(parameters?.includes("Prefer")).toBe(defaultWaitS !== undefined);
      expect(parameters?.includes("Idempotency-Key")).toBe(sideEffect !== "none");
      for (const [type, text] of Object.entries(errorModel)) {
        const { description } = post?.responses[statusOf(type as keyof typeof errorModel)] ?? {};
        expect(description).toContain(`\`${type}\`: ${text}`);
      }
      for (const { headers } of Object.values(post?.responses ?? {})) expect(headers).toHaveProperty("X-Request-Id");
      expect(post?.responses[401]?.headers).toHaveProperty("WWW-Authenticate");
      expect(post?.responses[429]?.headers).toHaveProperty("Retry-After");
    },
  );

  test.each(contracts)("says what $name answers", async ({ name, examples }: Contract) => {
    const path = `/v1/tools/${name}`;
    const nobody = await system.createKey({ scopes: [] });
    const answers = [
      await system.tool(name, examples[0]?.input),
      await system.tool(name, examples[0]?.input, { headers: { prefer: "respond-async" } }),
      await system.tool(name, { no_such_parameter: 1 }),
      await system.tool(name, {}, { key: "" }),
      await system.tool(name, {}, { key: nobody }),
    ];
    expect(answers.slice(2).map(({ status }) => status)).toEqual([400, 401, 403]);
    for (const { status, headers, body } of answers) {
      expect(faultsOf(path, "post", status, body), `${status}: ${JSON.stringify(body)}`).toBeUndefined();
      const promised = described.paths[path]?.post?.responses[status]?.headers ?? {};
      for (const header of ["Retry-After", "WWW-Authenticate"]) {
        if (header in promised) expect(headers.get(header), header).toBeTruthy();
      }
      expect(headers.get("x-request-id")).toBeTruthy();
    }
  });

  test("says what the catalog answers", async () => {
    for (const format of ["definition", "seed", "mcp", "openai", "openai-responses", "anthropic", "gemini"]) {
      const body = await system.get(`/v1/tools?format=${format}`);
      expect(faultsOf("/v1/tools", "get", 200, body), format).toBeUndefined();
    }
    expect(faultsOf("/v1/tools", "get", 400, await system.get("/v1/tools?format=x"))).toBeUndefined();
    expect(faultsOf("/v1/tools/{tool}", "get", 404, await system.get("/v1/tools/none"))).toBeUndefined();
    expect(faultsOf("/healthz", "get", 200, await system.get("/healthz"))).toBeUndefined();
    expect(faultsOf("/healthz", "get", 200, { status: "ill" })).toBeDefined();
  });

  test("speaks Chinese when asked to", async () => {
    const { paths } = document.parse(await system.get("/openapi.json?lang=zh-CN"));
    expect(paths["/v1/tools/call_agent"]?.post).toMatchObject({ summary: "呼叫智能体" });
  });
});

describe("/docs", () => {
  test("is one page with every tool, in either language", async () => {
    for (const [lang, titles] of [
      ["en", contracts.map(({ title }) => title)],
      ["zh-CN", contracts.map(({ locales }) => locales["zh-CN"].title)],
    ] as const) {
      const { status, headers, text } = await read(`/docs?lang=${lang}`);
      expect([status, headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
      expect(text).toMatch(/^<!doctype html>/);
      expect(text).toContain(`<html lang="${lang}">`);
      for (const [index, { name }] of contracts.entries()) {
        expect(text).toContain(`<section id="${name}">`);
        expect(text).toContain(`</code> ${titles[index]}</h2>`);
      }
    }
    expect((await read("/docs")).text).toBe((await read("/docs?lang=en")).text);
  });

  test("loads nothing and runs nothing, and its policy allows nothing but its own style", async () => {
    const { headers, text } = await read("/docs");
    const [, style = ""] = /<style>(.*)<\/style>/s.exec(text) ?? [];
    const digest = createHash("sha256").update(style).digest("base64");
    expect(headers.get("content-security-policy")).toBe(
      `default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    );
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(text).not.toMatch(/<script|<link|<img|<iframe|\son\w+=|style="|\s(src|href)="(https?:)?\/\//i);
  });

  test("shows texts as texts, whatever they hold", () => {
    const nasty = `<script>alert("1")</script> & 'x'`;
    const { speaker: _, echo: __, ...base } = contracts[0] as Contract;
    const field = z.enum(["a", nasty]).default(nasty).describe(nasty);
    const contract = defineContract({
      ...base,
      name: "nasty",
      title: nasty,
      description: nasty,
      input: z.strictObject({ [nasty]: field }),
      errorModel: { INVALID_INPUT: nasty },
      examples: [{ input: { [nasty]: nasty }, output: { nasty } as never }],
    });

    const text = page([contract], "en");

    expect(text).not.toMatch(/<script/);
    expect(text).toContain("&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;x&#39;");
  });
});

describe("what needs no key", () => {
  test.each(["/openapi.json", "/docs", "/healthz"])("%s is read by GET alone, and says so", async (path) => {
    const { status, headers, text } = await read(path, "POST");
    expect([status, headers.get("allow")]).toEqual([405, "GET"]);
    expect(JSON.parse(text)).toMatchObject({ code: 405, error: { type: "METHOD_NOT_ALLOWED" } });
  });

  test.each(["/openapi.json", "/docs"])("%s names its languages when it does not know one", async (path) => {
    const { status, text } = await read(`${path}?lang=fr`);
    expect(status).toBe(400);
    expect(JSON.parse(text)).toMatchObject({ error: { hint: "Use one of: en, zh-CN." } });
  });

  test("tells nothing of a workspace: it is the same for everybody", () => {
    const text = JSON.stringify(openApi(contracts, "en")) + page(contracts, "en");
    expect(text).not.toMatch(/sb_local|127\.0\.0\.1|amazonaws/);
  });
});
