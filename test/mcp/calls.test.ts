import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Contract } from "../../functions/_runtime/contract.ts";
import { contracts } from "../../functions/tools.ts";
import { acts, unique } from "../acts.ts";
import { startTestSystem } from "../system.ts";
import { connect, type McpClient, revisions, type ToolResult } from "./clients.ts";

/* Tools as MCP clients meet them. */

const system = await startTestSystem();
const { url, key } = system;
const { register, receive, reply } = acts(system.tool);
const forAgents = (contracts as readonly Contract[]).filter(({ audience }) => audience === "agent");
let clients: McpClient[] = [];
beforeAll(async () => {
  clients = await Promise.all(revisions.map((revision) => connect(revision, url, key)));
});
afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await system.stop();
});

const idempotencyKey = "switchboard/idempotencyKey";
const refusal = (type: string) => ({ isError: true, structuredContent: { error: { type } } });

/** Runs an act with each official client. */
async function withEach(act: (client: McpClient) => Promise<void>): Promise<void> {
  for (const client of clients) await act(client);
}

describe("what a key lists", () => {
  test("is what it may use: its scopes' tools, and no operator's", async () => {
    const full = forAgents.map(({ name }) => name);
    await withEach(async (client) => expect((await client.list()).map(({ name }) => name)).toEqual(full));
    for (const revision of revisions) {
      const caller = await connect(revision, url, await system.createKey({ scopes: ["agent:call"] }));
      expect((await caller.list()).map(({ name }) => name)).toEqual(["call_agent", "cancel_call", "get_call"]);
      await caller.close();
    }
  });

  test("is in Chinese at /mcp?lang=zh-CN", async () => {
    const client = await connect("2026-07-28", url, key, "lang=zh-CN");
    for (const { name, title, description } of await client.list()) {
      const contract = forAgents.find((each) => each.name === name);
      expect({ title, description }).toMatchObject({
        title: contract?.locales["zh-CN"].title,
        description: contract?.locales["zh-CN"].description,
      });
    }
    await client.close();
  });
});

describe("a call", () => {
  test.each(forAgents.map((contract) => [contract.name, contract] as const))(
    "of %s with its examples is answered in its own shape, or refused with a hint",
    async (name, { examples }) => {
      await withEach(async (client) => {
        await client.list();
        for (const { input } of examples) {
          const { isError, content, structuredContent } = await client.call(name, input, { prefer: "respond-async" });
          const text = content.at(-1)?.text ?? "";
          if (isError) expect(content[0]?.text).toMatch(/^[A-Z_]+: \S.* \S/);
          else expect(JSON.parse(text)).toEqual(structuredContent);
        }
      });
    },
  );

  test("without arguments means none, for tools that need none; else it hears what is missing", async () => {
    await withEach(async (client) => {
      expect((await client.call("list_agents")).structuredContent).toMatchObject({ code: 0 });
      const refused = await client.call("get_agent_status");
      expect(refused).toMatchObject(refusal("INVALID_INPUT"));
      expect(refused.content[0]?.text).toContain("agent_name");
    });
  });

  test("with an unknown parameter hears its name and the nearest one", async () => {
    await withEach(async (client) => {
      const { content, isError } = await client.call("get_agent_status", { agent: "writer", user_name: "alice" });
      expect(isError).toBe(true);
      expect(content[0]?.text).toMatch(/agent.*agent_name/s);
    });
  });

  test("of a tool that the key may not use, or as another agent, is refused by the tool itself", async () => {
    for (const revision of revisions) {
      const writer = await register("writer");
      const token = await system.createKey({ scopes: ["agent:receive"], agents: [writer] });
      const client = await connect(revision, url, token);
      expect(await client.call("list_agents")).toMatchObject(refusal("PERMISSION_DENIED"));
      expect(await client.call("receive_messages", { agent_name: "other" })).toMatchObject(
        refusal("IDENTITY_MISMATCH"),
      );
      expect(await client.call("receive_messages", { agent_name: writer })).toMatchObject({
        structuredContent: { code: 0 },
      });
      await client.close();
    }
  });

  test("of no tool, or of one for operators, is an error of the protocol", async () => {
    const operators = (contracts as readonly Contract[]).filter(({ audience }) => audience === "operator");
    await withEach(async (client) => {
      for (const name of ["nothing", ...operators.map((contract) => contract.name)])
        await expect(client.call(name)).rejects.toMatchObject({ code: -32602, message: expect.stringContaining(name) });
    });
  });

  test("waits for the reply as long as its _meta says, and brings it", async () => {
    await withEach(async (client) => {
      const [lead, writer, session_id] = [await register("lead"), await register("writer"), unique("s")];
      const input = { session_id, user_name: "alice", sender: lead, receiver: writer, content: "Ready?" };
      const answer = client.call("call_agent", input, { "switchboard/prefer": "wait=20" });
      const { messages } = (await receive(writer, {}, 20)).body;
      await reply(String(messages[0]?.call_id), writer, { content: "Ready." });
      expect(await answer).toMatchObject({
        structuredContent: { code: 0, content: "Ready." },
        _meta: { "switchboard/preferenceApplied": "wait=20" },
      });
    });
  });
});

describe("a repeat", () => {
  async function question() {
    const [lead, writer] = [await register("lead"), await register("writer")];
    const input = { session_id: unique("s"), user_name: "alice", sender: lead, receiver: writer, content: "Ready?" };
    const ask = async (client: McpClient, meta: object, more: object = {}): Promise<ToolResult> =>
      client.call("call_agent", { ...input, ...more }, { prefer: "respond-async", ...meta });
    return { writer, ask };
  }

  test.each([idempotencyKey, "idempotencyKey"])(
    "under the client's own key (%s) finds the first effect",
    async (name) => {
      await withEach(async (client) => {
        const { writer, ask } = await question();
        const meta = { [name]: unique("key") };
        const [first, second] = [await ask(client, meta), await ask(client, meta)];
        expect(second.structuredContent?.call_id).toBe(first.structuredContent?.call_id);
        expect(second._meta).toMatchObject({ [idempotencyKey]: meta[name] });
        expect((await receive(writer, { limit: 10 })).body.messages).toHaveLength(1);
        expect(await ask(client, meta, { content: "Another?" })).toMatchObject(refusal("IDEMPOTENCY_MISMATCH"));
      });
    },
  );

  test("under the key that an answer has named finds its effect, for a client that sent none", async () => {
    await withEach(async (client) => {
      const { ask } = await question();
      const first = await ask(client, {});
      const named = { [idempotencyKey]: first._meta?.[idempotencyKey] };
      expect(named[idempotencyKey]).toMatch(/^\S{16,}$/);
      expect((await ask(client, named)).structuredContent?.call_id).toBe(first.structuredContent?.call_id);
      expect((await ask(client, {})).structuredContent?.call_id).not.toBe(first.structuredContent?.call_id);
    });
  });

  test("of what only reads needs no key, and gets none", async () => {
    await withEach(async (client) => {
      expect(Object.keys((await client.call("list_agents"))._meta ?? {})).not.toContain(idempotencyKey);
    });
  });

  test("under a key that can't be one is refused", async () => {
    await withEach(async (client) => {
      const { ask } = await question();
      for (const wrong of ["", "a b", "键", "x".repeat(256)])
        expect(await ask(client, { [idempotencyKey]: wrong })).toMatchObject(refusal("INVALID_INPUT"));
      await expect(ask(client, { [idempotencyKey]: 5 })).rejects.toMatchObject({
        code: -32602,
        message: expect.stringContaining(idempotencyKey),
      });
    });
  });
});
