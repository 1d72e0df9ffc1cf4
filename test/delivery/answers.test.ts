import { afterAll, describe, expect, test, vi } from "vitest";
import { acts, byWebhook, unique } from "../acts.ts";
import { startTestSystem } from "../system.ts";
import { tableItems } from "../table_items.ts";
import type { DeliveryHandler } from "../webhook_agent.ts";

/* What an agent's answer to a delivery makes of the call. */

const system = await startTestSystem();
afterAll(() => system.stop());
const { tool, webhookAgent } = system;
const { assign, call, register, reply, statusOf } = acts(tool);

/** Stands in every body that must not be passed on. */
const secret = "inner-secret-4711";
const limit = 64 * 1024;

/** An agent with a webhook that answers like this, and a caller. */
async function pair(answer: Awaited<ReturnType<DeliveryHandler>> | DeliveryHandler) {
  const webhook = await webhookAgent(typeof answer === "function" ? answer : () => answer);
  const skill = unique("writing");
  const sender = await register("asker");
  const receiver = await register("writer", { ...byWebhook(webhook), skills: [skill] });
  /** What list_agents shows of the receiver; what a delivery leaves there comes a moment after the call's end. */
  const shows = (profile: object) =>
    vi.waitFor(async () => {
      const { agents } = (await tool("list_agents", { skill })).body;
      expect(agents).toMatchObject([profile]);
      expect(JSON.stringify(agents)).not.toContain(secret);
    });
  const session_id = unique("s");
  const ask = (waitS = 20) => call({ session_id, sender, receiver }, waitS);
  const find = async (call_id: string) => tool("get_call", { call_id, agent_name: sender });
  return { webhook, sender, receiver, skill, ask, find, shows };
}

/** One attempt, as get_call shows it. */
const attempt = (http_status: number, outcome: unknown, number = 1) => ({
  number,
  started_at: expect.stringMatching(/^\d{4}-.*Z$/),
  ended_at: expect.stringMatching(/^\d{4}-.*Z$/),
  outcome,
  http_status,
});

describe("is the reply, when it is", () => {
  test.each([
    ["200 with content", 200, { content: "**写好了。**" }],
    ["201 with content", 201, { content: "Made." }],
    ["200 with type and files", 200, { content: "{}", type: "json", files: ["a.md", "https://e.com/图.png"] }],
    ["200 with exactly 64 KiB of content", 200, { content: `${"中".repeat(21_845)}.` }],
    ["200 with content that looks like a message of ours", 200, { content: '{"type":"call","data":{}}' }],
  ])("%s", async (_, status, body) => {
    const { webhook, ask, find, receiver, shows } = await pair({ status, body });
    const answer = await ask();
    expect(answer).toMatchObject({ status: 200, body: { code: 0, type: "text", files: [], ...body } });
    const found = await find(answer.body.call_id);
    expect(found.body).toMatchObject({ ...body, status: "answered", next_action: "", next_at: "" });
    expect(found.body.attempts).toEqual([attempt(status, "answered")]);
    expect(webhook.deliveries).toHaveLength(1);
    expect((await statusOf(receiver)).todos).toEqual([]);
    await shows({ status: "idle", last_delivery_error: "", last_seen_at: expect.stringContaining("Z") });
  });
});

describe("takes the call, to be answered by reply_call, when it is", () => {
  test.each([
    ["202", 202, {}],
    ["202 with a body", 202, { body: { content: secret } }],
    ["204", 204, {}],
    ["an empty 200", 200, {}],
    ["200 with empty content", 200, { body: { content: "" } }],
    ["an empty 201", 201, {}],
    ["202 with a body that is too large", 202, { raw: secret.repeat(50_000) }],
  ])("%s", async (_, status, rest) => {
    const { webhook, ask, find, sender, receiver } = await pair({ status, ...rest });
    const { call_id } = (await ask(0)).body;
    const taken = async () => (await find(call_id)).body;
    await vi.waitFor(async () => expect(await taken()).toMatchObject({ code: 202, content: "", status: "delivered" }));
    const { attempts, next_action, next_at, deadline_at } = await taken();
    expect(attempts).toEqual([attempt(status, "accepted")]);
    expect([next_action, next_at]).toEqual([expect.stringContaining("has taken it"), deadline_at]);
    expect((await statusOf(receiver)).todos).toEqual([`reply to ${sender}`]);

    expect((await reply(call_id, receiver, { content: "Done." })).status).toBe(200);

    expect(await taken()).toMatchObject({ code: 0, content: "Done.", status: "answered" });
    expect(webhook.deliveries).toHaveLength(1);
  });
});

test("an accepted message lets the next one of its group go, which is delivered before the first is answered", async () => {
  const { webhook, ask } = await pair({ status: 202 });
  await ask(0);
  await ask(0);
  await webhook.received(2);
  expect(webhook.deliveries.map(({ body }) => body.data.attempt)).toEqual([1, 1]);
});

test("content of a webhook ends a task as done; an empty answer leaves it assigned", async () => {
  const answers = [{ body: { content: "Two sentences.", files: ["home.md"] } }, { status: 202 }];
  const { webhook, receiver } = await pair((_, index) => answers[index] ?? {});
  const leader = await register("lead", { role: "director" });
  const tasks = ["first", "second"].map((name) => ({ name, executor: receiver, content: "Write." }));
  await assign({ session_id: unique("s"), leader, project_name: leader, tasks });
  await webhook.received(2);
  const project = async () => (await tool("get_project", { user_name: "alice", project_name: leader })).body.tasks;
  await vi.waitFor(async () =>
    expect(await project()).toMatchObject([
      { name: "first", status: "done", detailed: "Two sentences.", files: ["home.md"] },
      { name: "second", status: "assigned", detailed: "", files: [] },
    ]),
  );
});

describe("fails the call at once, and is shown to nobody, when it is", () => {
  const unreadable = "The receiver's webhook answered with a body that is no {content, type, files}.";
  const refused = (status: number) => `The receiver's webhook answered with status ${status}.`;
  test.each([
    ["400", { status: 400, raw: secret }, refused(400)],
    ["401", { status: 401, body: { error: secret } }, refused(401)],
    ["403", { status: 403 }, refused(403)],
    ["404", { status: 404, raw: `<h1>${secret}</h1>` }, refused(404)],
    ["404 with a body that is too large", { status: 404, raw: secret.repeat(50_000) }, refused(404)],
    ["200 with a text that is no JSON", { raw: secret }, unreadable],
    ["200 with JSON that is no object", { body: [secret] }, unreadable],
    ["200 with null", { body: null }, unreadable],
    ["200 without content", { body: { text: secret } }, unreadable],
    ["200 with a field that nobody knows", { body: { content: secret, thought: secret } }, unreadable],
    ["200 with content that is no text", { body: { content: { text: secret } } }, unreadable],
    ["200 with files that are objects", { body: { content: secret, files: [{ name: secret }] } }, unreadable],
    ["200 with half of a character", { body: { content: `${secret} \ud83d` } }, unreadable],
    ["200 with half of a character in a file", { body: { content: secret, files: ["\udc00"] } }, unreadable],
    [
      "200 in another encoding than UTF-8",
      { raw: Buffer.from(`{"content":"${secret} \xd6\xd0"}`, "latin1") },
      unreadable,
    ],
    ["200 that is cut", { raw: `{"content":"${secret}` }, unreadable],
    [
      "200 with more than 64 KiB of content",
      { body: { content: `${secret}${"中".repeat(21_845)}` } },
      "The receiver's answer is over 64 KiB.",
    ],
    [
      "200 with more than 64 KiB of files",
      { body: { content: secret, files: Array(40).fill("x".repeat(2000)) } },
      "The receiver's answer is over 64 KiB.",
    ],
    [
      "200 with a body that is too large to be read",
      { raw: JSON.stringify({ content: secret.repeat(50_000) }) },
      "The receiver's answer is too large.",
    ],
  ])("%s", async (_, answer, reason) => {
    const { webhook, ask, find, receiver, shows } = await pair(answer);
    const asked = await ask();
    const { call_id } = asked.body;
    expect(asked).toMatchObject({
      status: 502,
      body: { code: 502, msg: reason, content: "", error: { type: "CALL_FAILED", message: reason, retryable: false } },
    });
    const found = await find(call_id);
    expect(found).toMatchObject({ status: 502, body: { status: "failed", reason, next_action: "", next_at: "" } });
    const http_status = reason.endsWith("too large.") ? 0 : ("status" in answer && answer.status) || 200;
    expect(found.body.attempts).toEqual([attempt(http_status, reason)]);
    await shows({ status: "idle", last_delivery_error: reason });
    expect((await statusOf(receiver)).todos).toEqual([]);
    expect(webhook.deliveries).toHaveLength(1);
    expect(JSON.stringify([asked.body, found.body, [...(await tableItems())]])).not.toContain(secret);
  });
});

describe("is not followed, when it is", () => {
  test.each([301, 302, 307, 308])("a %i to another address", async (status) => {
    const inner = await webhookAgent(() => ({ body: { content: secret } }));
    const { webhook, ask, find } = await pair({ status, headers: { location: inner.url }, raw: secret });
    const asked = await ask();
    const reason = `The receiver's webhook answered with status ${status}. Redirects are not followed.`;
    expect(asked).toMatchObject({ status: 502, body: { msg: reason, error: { type: "CALL_FAILED" } } });
    expect((await find(asked.body.call_id)).body.attempts).toEqual([attempt(status, reason)]);
    expect(inner.deliveries).toHaveLength(0);
    expect(webhook.deliveries).toHaveLength(1);
  });
});

test("410 switches the webhook off: nothing more is sent there until the agent registers again", async () => {
  const { webhook, receiver, skill, ask, shows } = await pair((_, index) =>
    index === 0 ? { status: 410 } : { body: { content: "Back." } },
  );
  expect(await ask()).toMatchObject({ status: 502, body: { msg: "The receiver's webhook answered with status 410." } });

  const off = "The receiver's webhook is switched off, since it answered 410.";
  expect(await ask()).toMatchObject({ status: 502, body: { msg: off, error: { type: "CALL_FAILED" } } });
  await shows({ last_delivery_error: expect.stringContaining("410") });
  expect(webhook.deliveries).toHaveLength(1);

  await tool("register_agent", { agent_name: receiver, role: "member", skills: [skill], ...byWebhook(webhook) });
  await shows({ last_delivery_error: "" });
  expect(await ask()).toMatchObject({ status: 200, body: { content: "Back." } });
});

test("410 stays in force when a delivery that was under way fails otherwise after it", async () => {
  const gone = Promise.withResolvers<void>();
  const { webhook, sender, receiver, ask } = await pair(async ({ body }) => {
    if (body.data.content === "gone") return { status: 410 };
    await gone.promise;
    return { status: 404 };
  });
  const slow = ask();
  await webhook.received(1);
  const other = { session_id: unique("s"), sender, receiver, content: "gone" };
  expect((await call(other, 20)).body.msg).toContain("410");
  gone.resolve();
  expect((await slow).body.msg).toContain("404");

  expect((await call({ ...other, session_id: unique("s") }, 20)).body.msg).toContain("switched off");
  expect(webhook.deliveries).toHaveLength(2);
});

test("503 once is tried again by itself, and leaves no trace of an error on the agent that answered then", async () => {
  const { webhook, ask, find, receiver, shows } = await pair((_, index) =>
    index === 0 ? { status: 503, raw: secret } : { body: { content: "Now." } },
  );
  const answer = await ask();
  expect(answer).toMatchObject({ status: 200, body: { content: "Now." } });
  expect(webhook.deliveries).toHaveLength(2);
  expect((await find(answer.body.call_id)).body.attempts).toEqual([
    attempt(503, "The receiver's webhook answered with status 503."),
    attempt(200, "answered", 2),
  ]);
  expect((await statusOf(receiver)).todos).toEqual([]);
  await shows({ status: "idle", last_delivery_error: "" });
});

test("a limit is what it says: one byte more of content than 64 KiB is too much", async () => {
  for (const [bytes, status] of [
    [limit, 200],
    [limit + 1, 502],
  ] as const) {
    const { ask } = await pair({ body: { content: "x".repeat(bytes) } });
    expect((await ask()).status).toBe(status);
  }
});
