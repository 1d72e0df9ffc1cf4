import { expect, test } from "vitest";
import { unique } from "../acts.ts";
import { target, tool } from "./target_client.ts";

test("the system says that it is well, without a key", async () => {
  expect((await fetch(`${target.url}/healthz`)).status).toBe(200);
});

test("the system documents itself to anybody, and its tools to whoever has a key", async () => {
  const get = (path: string, headers = {}) => fetch(target.url + path, { headers });
  const openapi = await get("/openapi.json");
  const docs = await get("/docs?lang=zh-CN");
  const catalog = await get("/v1/tools?format=openai", { authorization: `Bearer ${target.key}` });

  expect(await openapi.json()).toMatchObject({ openapi: "3.1.0", paths: { "/v1/tools/call_agent": {} } });
  expect([docs.status, docs.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
  expect(await docs.text()).toContain("呼叫智能体");
  expect(await catalog.json()).toMatchObject({ tools: expect.any(Array), losses: expect.any(Array) });
});

test("two agents that read their inboxes talk: one calls, the other answers, the first gets the reply", async () => {
  const [sender, receiver, session_id] = [unique("asker"), unique("writer"), unique("session")];
  for (const agent_name of [sender, receiver]) {
    expect(await tool("register_agent", { agent_name, role: "member" })).toMatchObject({ status: 200 });
  }
  const input = { session_id, user_name: "alice", sender, receiver, content: "写好了吗？" };
  const called = await tool("call_agent", input, { headers: { prefer: "respond-async" } });
  expect(called).toMatchObject({ status: 202, body: { code: 202, content: "" } });
  const { call_id } = called.body;

  const received = await tool("receive_messages", { agent_name: receiver }, { headers: { prefer: "wait=20" } });
  expect(received.body).toMatchObject({ messages: [{ kind: "call", call_id, sender, content: "写好了吗？" }] });
  const replied = await tool("reply_call", { call_id, sender: receiver, content: "写好了。" });
  expect(replied.status).toBe(200);

  const answer = await tool("get_call", { call_id, agent_name: sender });
  expect(answer).toMatchObject({
    status: 200,
    body: { code: 0, content: "写好了。", sender: receiver, receiver: sender },
  });
});

test("a request without a key is refused in the tool's own shape", async () => {
  const { status, headers, body } = await tool("get_agent_status", { agent_name: "x", user_name: "y" }, { key: "" });
  expect(status).toBe(401);
  expect(headers.get("www-authenticate")).toMatch(/^Bearer/);
  expect(body).toMatchObject({ code: 401, todos: [], error: { type: "UNAUTHENTICATED" } });
});
