/*
 * A platform's program with a client that was generated from /openapi.json. It is compiled and run beside the
 * generated types, not with the project: see openapi.test.ts.
 */
import createClient from "openapi-fetch";
import type { paths } from "./api.d.ts";

const { SWITCHBOARD_URL: baseUrl = "", SWITCHBOARD_KEY: key = "" } = process.env;
const client = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${key}` } });

for (const agent_name of ["typed_lead", "typed_writer"]) {
  const { data, error } = await client.POST("/v1/tools/register_agent", { body: { agent_name, role: "member" } });
  if (error !== undefined || data.delivery !== "inbox") throw new Error(`${agent_name} was not registered.`);
}

const call = await client.POST("/v1/tools/call_agent", {
  params: { header: { Prefer: "respond-async", "Idempotency-Key": "typed-1" } },
  body: {
    session_id: "typed",
    user_name: "alice",
    sender: "typed_lead",
    receiver: "typed_writer",
    content: "Two sentences, please.",
    files: [{ name: "home.md" }],
  },
});
const callId: string = call.data?.call_id ?? "";

const { data: inbox } = await client.POST("/v1/tools/receive_messages", { body: { agent_name: "typed_writer" } });
const message = inbox?.messages[0];
await client.POST("/v1/tools/reply_call", {
  body: { call_id: message?.call_id ?? "", sender: "typed_writer", content: `Read: ${message?.content}` },
});
const { data: ended } = await client.POST("/v1/tools/get_call", {
  body: { call_id: callId, agent_name: "typed_lead" },
});

const refused = await client.POST("/v1/tools/call_agent", {
  body: { session_id: "typed", user_name: "alice", sender: "typed_lead", receiver: "nobody", content: "x" },
});
const refusal = refused.error?.error.type;
// The types of error are known: this one is none of call_agent's.
// @ts-expect-error
const isForeign = refusal === "TASK_NOT_FOUND";

const { data: catalog } = await client.GET("/v1/tools", { params: { query: { format: "openai", lang: "zh-CN" } } });
const { data: health } = await client.GET("/healthz");

/** Never called: what the types must refuse. */
export async function wrong(): Promise<void> {
  // @ts-expect-error A required parameter is missing.
  await client.POST("/v1/tools/get_call", { body: { call_id: "call_1" } });
  // @ts-expect-error A text is no number.
  await client.POST("/v1/tools/receive_messages", { body: { agent_name: "a", limit: "1" } });
  // @ts-expect-error There is no such role.
  await client.POST("/v1/tools/register_agent", { body: { agent_name: "a", role: "boss" } });
  // @ts-expect-error There is no such tool.
  await client.POST("/v1/tools/call_agents", { body: {} });
}

console.log(
  JSON.stringify({
    accepted: call.response.status,
    reply: ended?.content,
    refusal,
    isForeign,
    tools: catalog?.tools.length,
    health: health?.status,
  }),
);
