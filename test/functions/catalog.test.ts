import { parse } from "jsonc-parser";
import { afterAll, describe, expect, test } from "vitest";
import { contracts } from "../../functions/tools.ts";
import { startTestSystem } from "../system.ts";
import { readManifest, readSeed } from "./manifest_reader.ts";

const system = await startTestSystem();
afterAll(() => system.stop());

interface Listed {
  tools: { name: string; title: string }[];
}

async function read<Body = Listed>(path: string, { key = system.key, method = "GET" } = {}) {
  const response = await fetch(system.url + path, { method, headers: key ? { authorization: `Bearer ${key}` } : {} });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Body };
}

const refused = (status: number, type: string) => ({ status, body: { code: status, error: { type } } });
const names = ({ body }: { body: Listed }) => body.tools.map(({ name }) => name);

describe("GET /v1/tools", () => {
  test("lists every tool to a key that may do everything, each as its manifest says", async () => {
    const { status, body } = await read("/v1/tools");
    expect(status).toBe(200);
    expect(body.tools).toEqual(contracts.map(({ name }) => readManifest(name)));
  });

  test("lists only what a key's scopes allow", async () => {
    const reader = await system.createKey({ scopes: ["agent:read", "task:read"] });
    const nobody = await system.createKey({ scopes: [] });
    const listed = names(await read("/v1/tools", { key: reader }));
    expect(listed).toEqual(expect.arrayContaining(["get_agent_status", "get_project", "list_agents"]));
    for (const name of listed)
      expect(readManifest(name).permissions).toEqual([expect.stringMatching(/^(agent|task):read$/)]);
    expect(names(await read("/v1/tools", { key: nobody }))).toEqual([]);
  });

  test("lists what a call would be allowed: the tools left out are refused", async () => {
    const key = await system.createKey({ scopes: ["agent:call"] });
    const allowed = names(await read("/v1/tools", { key }));
    expect(allowed).toEqual(expect.arrayContaining(["call_agent", "cancel_call", "get_call"]));
    for (const { name } of contracts) {
      const { status } = await system.tool(name, {}, { key });
      expect([name, status]).toEqual([name, allowed.includes(name) ? 400 : 403]);
    }
  });

  test("needs a key in force", async () => {
    for (const key of ["", "sb_local_nobody_0123456789abcdef0123456789abcdef"]) {
      const answer = await read("/v1/tools", { key });
      expect(answer).toMatchObject(refused(401, "UNAUTHENTICATED"));
      expect(answer.headers.get("www-authenticate")).toMatch(/^Bearer/);
    }
  });

  test("speaks Chinese when asked to, and names the languages when it does not know one", async () => {
    const { body } = await read("/v1/tools?lang=zh-CN");
    for (const listed of body.tools) expect(listed.title).toBe(readManifest(listed.name).locales["zh-CN"].title);
    expect(await read("/v1/tools?lang=fr")).toMatchObject({
      ...refused(400, "INVALID_INPUT"),
      body: { error: { hint: expect.stringContaining("zh-CN") } },
    });
  });

  test("names its formats when it does not know one", async () => {
    for (const format of ["yaml", "", "__proto__"]) {
      expect(await read(`/v1/tools?format=${format}`)).toMatchObject({
        ...refused(400, "INVALID_INPUT"),
        body: { error: { hint: expect.stringContaining("definition, seed") } },
      });
    }
  });
});

describe("GET /v1/tools/{tool}", () => {
  test.each(["call_agent", "assign_agent_work", "get_agent_status"])(
    "gives the seed's own document of %s, without our additions",
    async (name) => {
      const { status, body } = await read<unknown>(`/v1/tools/${name}?format=seed&additions=false`);
      expect(status).toBe(200);
      expect(body).toEqual(parse(readSeed(`${name}.jsonc`)));
    },
  );

  test("is not guessed at: additions are asked for by true or false", async () => {
    expect(await read("/v1/tools?format=seed&additions=no")).toMatchObject({
      status: 400,
      body: { error: { type: "INVALID_INPUT", hint: "Use one of: true, false." } },
    });
  });

  test("gives the seed's format with our additions otherwise", async () => {
    const { body } = await read<{ params: { name: string }[] }>("/v1/tools/call_agent?format=seed");
    expect(body.params.map(({ name }) => name)).toContain("deadline_s");
  });

  test("gives the definition in either language", async () => {
    expect((await read<unknown>("/v1/tools/get_call")).body).toEqual(readManifest("get_call"));
    const { body } = await read<{ description: string }>("/v1/tools/get_call?lang=zh-CN");
    expect(body.description).toBe(readManifest("get_call").locales["zh-CN"].description);
  });

  test("answers for a tool that the key may not use as for none", async () => {
    const key = await system.createKey({ scopes: ["agent:read"] });
    expect((await read("/v1/tools/list_agents", { key })).status).toBe(200);
    expect(await read("/v1/tools/call_agent", { key })).toMatchObject(refused(404, "TOOL_NOT_FOUND"));
  });
});

describe("what is not there", () => {
  test.each(["/v1/tools/call_agents", "/v1/tools/__proto__", "/v1/tools/call_agent/x", "/v1/tool", "/", "/v1/tools/"])(
    "%s gets our own 404, with a way on",
    async (path) => {
      for (const method of ["GET", "POST"]) {
        const answer = await read(path, { method });
        expect(answer).toMatchObject(refused(404, "TOOL_NOT_FOUND"));
        expect(answer.body).toMatchObject({ error: { hint: expect.stringContaining("GET /v1/tools") } });
        expect(answer.headers.get("x-request-id")).toBeTruthy();
      }
    },
  );

  test.each([
    ["PUT", "/v1/tools/call_agent", "POST"],
    ["DELETE", "/v1/tools/call_agent", "POST"],
    ["POST", "/v1/tools", "GET"],
  ])("%s %s gets 405 and the method to use", async (method, path, right) => {
    expect(await read(path, { method })).toMatchObject({
      ...refused(405, "METHOD_NOT_ALLOWED"),
      body: { error: { hint: expect.stringContaining(right) } },
    });
  });

  test("health needs no key", async () => {
    expect(await read("/healthz", { key: "" })).toMatchObject({ status: 200, body: { status: "ok" } });
  });
});
