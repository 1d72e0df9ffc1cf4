import { afterAll, describe, expect, test, vi } from "vitest";
import { acts, unique } from "../acts.ts";
import { connect, type McpClient, revisions } from "../mcp/clients.ts";
import { playScenario } from "../mcp/scenario.ts";
import { target, tool } from "./target_client.ts";

vi.setConfig({ testTimeout: 180_000, hookTimeout: 60_000 });

interface Definition {
  name: string;
  title: string;
  audience: string;
  riskLevel: string;
  sideEffect: string;
  idempotent: boolean;
  inputSchema: unknown;
  outputSchema: unknown;
}

/** The catalog's definitions of the agents' tools. */
async function agentsTools(): Promise<Definition[]> {
  const headers = { authorization: `Bearer ${target.key}` };
  const response = await fetch(`${target.url}/v1/tools`, { headers });
  const { tools } = (await response.json()) as { tools: Definition[] };
  return tools.filter(({ audience }) => audience === "agent");
}

describe.each(revisions)("a client of revision %s", async (revision) => {
  const client: McpClient = await connect(revision, target.url, target.key);
  afterAll(() => client.close());

  test("is answered in its revision, and told how to work here", () => {
    expect(client.revision).toBe(revision);
    expect(client.instructions).toContain("get_call");
  });

  test("finds every tool for agents, with the catalog's schemas and hints from its governance fields", async () => {
    const expected = (await agentsTools()).map((definition) => ({
      name: definition.name,
      title: definition.title,
      inputSchema: definition.inputSchema,
      outputSchema: definition.outputSchema,
      annotations: expect.objectContaining({
        readOnlyHint: definition.sideEffect === "none",
        destructiveHint: definition.riskLevel === "high",
        idempotentHint: definition.idempotent,
        openWorldHint: definition.sideEffect === "external",
      }),
    }));
    expect(await client.list()).toMatchObject(expected);
  });

  test("calls every tool: each answers as its output schema says", async () => {
    const listed = (await client.list()).map(({ name }) => name);
    const steps = await playScenario(client);
    // Repository tools answer without a code.
    for (const { tool: name, answer } of steps) expect(answer.code ?? 0, name).toBeOneOf([0, 202]);

    expect(new Set(steps.map(({ tool: name }) => name))).toEqual(new Set(listed));
  });

  test("reads in a failed tool's result what to do next", async () => {
    const result = await client.call("get_agent_status", { agent_name: unique("nobody"), user_name: "alice" });
    expect(result).toMatchObject({
      isError: true,
      content: [
        { type: "text", text: expect.stringMatching(/^AGENT_NOT_FOUND: .*list_agents/) },
        { type: "text", text: expect.stringContaining('"code":404') },
      ],
      structuredContent: {
        code: 404,
        error: { type: "AGENT_NOT_FOUND", hint: expect.stringContaining("list_agents") },
      },
    });
  });

  test("gets 202 for a reply that isn't there yet, repeats safely, and picks the reply up with get_call", async () => {
    const { register, receive, reply } = acts(tool);
    const [lead, writer] = [await register("lead"), await register("writer")];
    const input = { session_id: unique("s"), user_name: "alice", sender: lead, receiver: writer, content: "Ready?" };
    const meta = { "switchboard/idempotencyKey": unique("key"), "switchboard/prefer": "wait=1" };

    const first = await client.call("call_agent", input, meta);
    expect(first.isError ?? false).toBe(false);
    expect(first).toMatchObject({
      structuredContent: { code: 202, content: "", msg: expect.stringContaining("get_call") },
      _meta: {
        "switchboard/idempotencyKey": meta["switchboard/idempotencyKey"],
        "switchboard/preferenceApplied": "wait=1",
      },
    });
    const call_id = String(first.structuredContent?.call_id);
    expect((await client.call("call_agent", input, meta)).structuredContent).toMatchObject({ code: 202, call_id });

    expect((await receive(writer, {}, 20)).body.messages).toMatchObject([{ call_id }]);
    await reply(call_id, writer, { content: "Ready." });
    const answered = { code: 0, content: "Ready.", call_id };
    const picked = await client.call("get_call", { call_id, agent_name: lead });
    expect(picked).toMatchObject({ structuredContent: answered });
    expect(JSON.parse(String(picked.content[0]?.text))).toEqual(picked.structuredContent);
    expect((await client.call("call_agent", input, meta)).structuredContent).toMatchObject(answered);
  });
});
