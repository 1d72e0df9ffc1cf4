import { afterAll, describe, expect, test } from "vitest";
import { startTestSystem } from "../system.ts";
import { everyField, everySchema, manifests } from "./manifest_reader.ts";

/*
 * The template's design checklist (seed 002, "Tool 设计检查"), a test per line over all manifests. The ninth line is
 * about running tools, so it runs each with its example.
 */
const system = await startTestSystem();
afterAll(() => system.stop());

const action = /^[a-z]+(_[a-z0-9]+)+$/;
/** What the credential tells is never asked for (design, rule 9). */
const fromCredential = ["workspace", "workspace_id", "tenant", "key", "api_key", "actor"];

describe.each(manifests)("$name", ({ name, description, inputSchema, outputSchema, errorModel, ...manifest }) => {
  test("名称是否明确表达动作: its name is made of at least two words, what it does and of what", () => {
    expect(name).toMatch(action);
  });

  test("描述是否说明何时使用: its description says when to use it", () => {
    expect(description).toMatch(/\b(Use|Call)( it)? (when|once|before|to)\b/);
  });

  test("输入是否最小且可校验: every parameter is described and bounded, and none repeats the credential", () => {
    expect(Object.keys(inputSchema.properties ?? {}).length).toBeLessThanOrEqual(10);
    for (const { path, schema } of everyField(inputSchema)) {
      expect(fromCredential).not.toContain(path);
      expect(schema.description, path).toMatch(/\.$/);
    }
    for (const { path, schema } of everySchema(inputSchema)) {
      if (schema.type === "object") expect(schema.additionalProperties, path).toBe(false);
      if (schema.type === "string" && !schema.enum) expect(schema.maxLength, path).toBeGreaterThan(0);
      if (schema.type === "array") expect(schema.maxItems, path).toBeGreaterThan(0);
      if (schema.type === "integer")
        expect([typeof schema.minimum, typeof schema.maximum], path).toEqual(["number", "number"]);
    }
  });

  test("输出是否结构化: every return has a type and a description, and there are no others", () => {
    for (const { path, schema } of everyField(outputSchema)) expect(schema.description, path).toMatch(/\.$/);
    for (const { path, schema } of everySchema(outputSchema)) {
      expect(["string", "number", "integer", "boolean", "array", "object"], path).toContain(schema.type);
      // The details of an error are facts that differ from error to error.
      if (schema.type === "object" && path !== "error.details") expect(schema.additionalProperties, path).toBe(false);
    }
  });

  test("是否避免返回完整原始大结果: long texts have a stated limit and long lists come in pages", () => {
    const returns = Object.keys(outputSchema.properties ?? {});
    const texts = everyField(outputSchema).filter(({ path }) => /(^|\.)(content|detailed)$/.test(path));
    const stated = [description, ...everyField(outputSchema).map(({ schema }) => schema.description)].join("\n");
    if (texts.length > 0) expect(stated).toMatch(/at most \d+ KiB/i);
    if (returns.includes("next_cursor")) {
      expect(inputSchema.properties).toHaveProperty("cursor");
      expect(description).toContain(`At most ${inputSchema.properties?.limit?.maximum} `);
    }
  });

  test("是否提供 sourceRef: what returns stored content says where it is from", () => {
    const contents = everyField(outputSchema).filter(({ path }) => /(^|\.)content$/.test(path));
    const reads = [...contents, ...(name === "get_project" ? everyField(outputSchema) : [])];
    for (const { path, around } of reads.filter((field) => !field.path.startsWith("error"))) {
      const refs = around.filter(({ properties }) => properties?.source_ref ?? properties?.sourceRef);
      expect(refs.length, path).toBeGreaterThan(0);
    }
    if (contents.length > 0) expect(JSON.stringify(manifest.examples)).toMatch(/"(switchboard|git):\/\//);
  });

  test("错误是否可恢复: every error says what happened and what to do next", () => {
    for (const [type, text] of Object.entries(errorModel)) expect(text, type).toMatch(/^[A-Z].+\. [A-Z].+\.$/);
  });

  test("是否声明风险级别和审批要求: risk, side effect and approval are declared and agree", () => {
    expect(["low", "medium", "high"]).toContain(manifest.riskLevel);
    expect(["none", "internal", "external"]).toContain(manifest.sideEffect);
    if (manifest.riskLevel === "high") expect(manifest.requiresApproval).toBe(true);
  });

  test("是否记录审计事件: each invocation leaves exactly one audit event, which says what came of it", async () => {
    const { status, headers } = await system.tool(name, manifest.examples[0]?.input ?? {});
    const { body } = await system.tool("list_audit_events", { tool: name, limit: 100 });
    const request_id = headers.get("x-request-id");
    expect(body.events.filter((event) => event.request_id === request_id)).toMatchObject([
      { tool: name, tool_version: manifest.version, risk_level: manifest.riskLevel, http_status: status },
    ]);
  });
});
