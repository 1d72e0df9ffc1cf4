import { afterAll, expect, test, vi } from "vitest";
import { acts, byWebhook, unique } from "../acts.ts";
import { startWebhookAgent, type WebhookAgent } from "../webhook_agent.ts";
import { tool } from "./target_client.ts";

vi.setConfig({ testTimeout: 60_000 });

const { call, receive, register, reply, statusOf } = acts(tool);
const agents: WebhookAgent[] = [];
afterAll(() => Promise.all(agents.map((agent) => agent.stop())));

async function webhookAgent(...[handler]: Parameters<typeof startWebhookAgent>): Promise<WebhookAgent> {
  const agent = await startWebhookAgent(handler);
  agents.push(agent);
  return agent;
}

test("a webhook agent answers a call in the same request, every field of the seed in its place", async () => {
  const files = ["docs/home.md", "https://example.com/首页.md"];
  const webhook = await webhookAgent(() => ({ body: { content: "**写好了。**", files } }));
  const lead = await register("lead", { role: "director" });
  const writer = await register("writer", byWebhook(webhook));
  const session_id = unique("session");
  const asked = { session_id, user_name: "alice", project_name: "官网改版", task_name: "首页文案" };
  const wanted = [{ name: "home.md", demand: "两句话", file: "docs/home.md" }, { demand: "一张图" }];

  const { status, body } = await call(
    { ...asked, sender: lead, receiver: writer, content: "请写。", files: wanted },
    25,
  );

  expect(status).toBe(200);
  expect(body).toEqual({
    code: 0,
    msg: "",
    ...asked,
    sender: writer,
    receiver: lead,
    type: "text",
    content: "**写好了。**",
    files,
    call_id: expect.stringMatching(/^call_/),
    budget_remaining: expect.any(Number),
    source_ref: `switchboard://calls/${body.call_id}`,
  });
  expect(webhook.deliveries).toHaveLength(1);
  expect(webhook.deliveries[0]?.body).toMatchObject({
    type: "call",
    data: {
      ...asked,
      kind: "call",
      call_id: body.call_id,
      sender: lead,
      receiver: writer,
      content: "请写。",
      files: wanted,
    },
  });
  expect((await statusOf(writer)).todos).toEqual([]);
});

test("a call without project, task and files is answered with their defaults", async () => {
  const webhook = await webhookAgent(() => ({ body: { content: "{}", type: "json" } }));
  const [lead, writer] = [await register("lead"), await register("writer", byWebhook(webhook))];

  const { body } = await call({ session_id: unique("session"), sender: lead, receiver: writer }, 25);

  expect(body).toMatchObject({ code: 0, project_name: "", task_name: "", type: "json", content: "{}", files: [] });
});

test("an inbox agent receives a call and replies, and the caller that waits gets the reply", async () => {
  const [lead, writer, session_id] = [await register("lead"), await register("writer"), unique("session")];
  const answer = call({ session_id, sender: lead, receiver: writer, content: "Ready?" }, 25);

  const received = await receive(writer, {}, 20);
  const { call_id = "" } = received.body.messages[0] ?? {};
  expect(received.body.messages).toMatchObject([{ kind: "call", session_id, sender: lead, content: "Ready?" }]);
  expect((await statusOf(writer)).todos).toEqual([`reply to ${lead}`]);
  const replied = await reply(call_id, writer, { content: "Ready.", files: ["a.md"] });

  expect(replied).toMatchObject({
    status: 200,
    body: { code: 0, call_id, session_id, user_name: "alice", sender: writer, receiver: lead, status: "answered" },
  });
  expect(await answer).toMatchObject({
    status: 200,
    body: { code: 0, sender: writer, receiver: lead, type: "text", content: "Ready.", files: ["a.md"], call_id },
  });
  expect((await statusOf(writer)).todos).toEqual([]);
  expect((await receive(lead)).body.messages).toEqual([]);
});

test("a silent receiver gives 202 with a call_id; the reply comes later, by get_call and once as a message", async () => {
  const [lead, writer, session_id] = [await register("lead"), await register("writer"), unique("session")];

  const called = await call({ session_id, sender: lead, receiver: writer }, 1);
  const { call_id } = called.body;
  expect(called).toMatchObject({
    status: 202,
    body: { code: 202, msg: expect.stringContaining("get_call"), sender: writer, receiver: lead, content: "" },
  });
  expect(called.headers.get("preference-applied")).toBe("wait=1");
  const before = await tool("get_call", { call_id, agent_name: lead });
  expect(before).toMatchObject({ status: 202, body: { code: 202, content: "", status: "queued" } });

  await receive(writer);
  await reply(call_id, writer, { content: "At last.", files: ["late.md"] });

  const answer = { sender: writer, receiver: lead, content: "At last.", files: ["late.md"] };
  const after = await tool("get_call", { call_id, agent_name: lead });
  expect(after).toMatchObject({ status: 200, body: { code: 0, ...answer, status: "answered" } });
  const { messages } = (await receive(lead, { limit: 10 }, 20)).body;
  expect(messages).toMatchObject([
    { kind: "reply", call_id, sender: writer, receiver: lead, status: "answered", content: "At last." },
  ]);
  expect(messages[0]?.result_files).toEqual(["late.md"]);
  // An agent with an open message, leased or not, can't be removed: acknowledged, the only one is gone for good.
  expect(await tool("remove_agent", { agent_name: lead })).toMatchObject({ status: 409 });
  const acknowledged = await receive(lead, { ack: messages.map(({ message_id }) => message_id), limit: 10 });
  expect(acknowledged.body.messages).toEqual([]);
  expect(await tool("remove_agent", { agent_name: lead })).toMatchObject({ status: 200 });
});

test("a webhook agent that accepts with 202 answers by reply_call, and a second reply does not count", async () => {
  const webhook = await webhookAgent(() => ({ status: 202 }));
  const [lead, writer] = [await register("lead"), await register("writer", byWebhook(webhook))];
  const answer = call({ session_id: unique("session"), sender: lead, receiver: writer }, 25);
  await webhook.received(1);
  const call_id = String(webhook.deliveries[0]?.body.data.call_id);

  const [first, second] = [await reply(call_id, writer, { content: "First." }), await reply(call_id, writer)];

  expect(first.status).toBe(200);
  expect(second).toMatchObject({ status: 409, body: { code: 409, error: { type: "CALL_CLOSED", retryable: false } } });
  expect((await answer).body).toMatchObject({ code: 0, content: "First." });
  expect(webhook.deliveries).toHaveLength(1);
});

test("an agent asks a third one while its caller waits, and may not call its caller back", async () => {
  const session_id = unique("session");
  const coder = await register("coder", byWebhook(await webhookAgent(() => ({ body: { content: "Use a map." } }))));
  const callsBack: unknown[] = [];
  const webhook = await webhookAgent(async ({ body: { data } }) => {
    const [sender, caller] = [String(data.receiver), String(data.sender)];
    const back = await call({ session_id, sender, receiver: caller });
    callsBack.push([back.status, back.body.error?.type, back.body.error?.details]);
    const { body } = await call({ session_id, sender, receiver: coder }, 20);
    return { body: { content: `The coder says: ${body.content}` } };
  });
  const [lead, writer] = [await register("lead"), await register("writer", byWebhook(webhook))];

  const { status, body } = await call({ session_id, sender: lead, receiver: writer }, 25);

  expect([status, body.content]).toEqual([200, "The coder says: Use a map."]);
  expect(callsBack).toEqual([[409, "CURRENT_CONVERSATION", { call_id: body.call_id }]]);
});

test("a call that is withdrawn ends the caller's wait with 410, and the receiver is idle", async () => {
  const [lead, writer, session_id] = [await register("lead"), await register("writer"), unique("session")];
  const answer = call({ session_id, sender: lead, receiver: writer }, 25);
  const received = await receive(writer, {}, 20);
  const { call_id = "" } = received.body.messages[0] ?? {};

  const cancelled = await tool("cancel_call", { call_id, sender: lead, reason: "No longer needed." });

  expect(cancelled).toMatchObject({ status: 200, body: { code: 0, call_id, status: "cancelled" } });
  expect(await answer).toMatchObject({
    status: 410,
    body: { code: 410, call_id, sender: writer, receiver: lead, content: "", error: { type: "CALL_CANCELLED" } },
  });
  expect((await statusOf(writer)).todos).toEqual([]);
  expect((await receive(writer)).body.messages).toMatchObject([{ kind: "call", call_id, status: "cancelled" }]);
});
