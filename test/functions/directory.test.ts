import { afterAll, describe, expect, test } from "vitest";
import { acts, byWebhook, unique } from "../acts.ts";
import { moveClock } from "../clock.ts";
import { startTestSystem } from "../system.ts";
import { tableItems } from "../table_items.ts";

const system = await startTestSystem();
afterAll(() => system.stop());
const { tool } = system;
const { assign, call, receive, register, reply, update } = acts(tool);

const registered = (agent_name: string, profile: object = {}) =>
  tool("register_agent", { agent_name, role: "member", ...profile });

describe("register_agent", () => {
  test("makes an agent, and gives its webhook secret this once", async () => {
    const agent_name = unique("writer");
    const { status, body } = await registered(agent_name, { display_name: "文案写手", skills: ["翻译", "copy"] });
    expect(status).toBe(200);
    expect(body).toEqual({
      code: 0,
      msg: "",
      agent_name,
      role: "member",
      display_name: "文案写手",
      skills: ["翻译", "copy"],
      delivery: "inbox",
      webhook_url: "",
      answer_timeout_s: 60,
      webhook_secret: expect.stringMatching(/^whsec_/),
      secret_version: 1,
      created: true,
    });
  });

  test("under the same spelling updates the agent, whose secret stays and is not shown again", async () => {
    const agent_name = unique("writer");
    await registered(agent_name, { skills: ["copy"] });
    const { body } = await registered(agent_name, { role: "director", display_name: "主笔" });
    expect(body).toMatchObject({ created: false, role: "director", display_name: "主笔", skills: [] });
    expect(body).toMatchObject({ webhook_secret: "", secret_version: 1 });
    const directors = async () => (await tool("list_agents", { role: "director" })).body.agents;
    await expect
      .poll(directors)
      .toContainEqual(expect.objectContaining({ agent_name, display_name: "主笔", skills: [] }));
  });

  test("rotates the secret when asked to", async () => {
    const agent_name = unique("writer");
    const first = (await registered(agent_name)).body;
    const second = (await registered(agent_name, { rotate_secret: true })).body;
    expect(second).toMatchObject({ created: false, secret_version: 2 });
    expect(second.webhook_secret).toMatch(/^whsec_/);
    expect(second.webhook_secret).not.toBe(first.webhook_secret);
    expect((await registered(agent_name)).body).toMatchObject({ webhook_secret: "", secret_version: 2 });
  });

  test("refuses a name that is taken in another spelling, and says in which", async () => {
    const name = unique("Writer");
    await registered(name);
    const before = await tableItems();
    for (const variant of [name.toUpperCase(), name.toLowerCase()]) {
      const { status, body } = await registered(variant);
      expect(status).toBe(409);
      expect(body).toMatchObject({ agent_name: variant, webhook_secret: "", error: { type: "AGENT_NAME_TAKEN" } });
      expect(body.error?.hint).toContain(`'${name}'`);
    }
    expect(await tableItems()).toEqual(before);
  });

  test("makes one agent of two spellings that come at the same moment", async () => {
    const name = unique("twin");
    const spellings = Array.from({ length: 8 }, (_, n) => (n % 2 === 0 ? name : name.toUpperCase()));
    const answers = await Promise.all(spellings.map((spelling) => registered(spelling)));
    const made = answers.filter(({ status }) => status === 200);
    expect(new Set(made.map(({ body }) => body.agent_name)).size).toBe(1);
    expect(made.filter(({ body }) => body.created)).toHaveLength(1);
    expect(answers.filter(({ body }) => body.error?.type === "AGENT_NAME_TAKEN")).toHaveLength(4);
  });

  test.each(["研发", "1st", "_x", "a b", "a.b", "a#b", "", "café", `a${"b".repeat(64)}`])(
    "refuses %j as a name, and says where such names belong",
    async (agent_name) => {
      const { status, body } = await registered(agent_name);
      expect(status).toBe(400);
      expect(body).toMatchObject({ created: false, error: { type: "INVALID_INPUT" } });
      expect(body.error?.hint).toContain("display_name");
    },
  );

  test("takes a name of 64 characters", async () => {
    const agent_name = unique("a".repeat(55));
    expect(agent_name).toHaveLength(64);
    expect((await registered(agent_name)).status).toBe(200);
  });

  test.each([
    { delivery: "webhook" },
    { webhook_url: "https://agents.example.com/hook" },
    { delivery: "inbox", webhook_url: "https://agents.example.com/hook" },
  ])("refuses %j: a webhook and its address belong together", async (profile) => {
    const { status, body } = await registered(unique("writer"), profile);
    expect([status, body.error?.type]).toEqual([400, "INVALID_INPUT"]);
  });

  test.each(["ftp://agents.example.com", "agents.example.com", "http://user:secret@127.0.0.1/"])(
    "refuses %j as a webhook",
    async (webhook_url) => {
      const { status, body } = await registered(unique("writer"), { delivery: "webhook", webhook_url });
      expect([status, body.error?.type]).toEqual([400, "WEBHOOK_REFUSED"]);
    },
  );
});

test("a name that is given to another agent later comes with another secret", async () => {
  const agent_name = unique("writer");
  const first = (await registered(agent_name)).body;
  expect((await tool("remove_agent", { agent_name })).status).toBe(200);
  const second = (await registered(agent_name)).body;
  expect(second).toMatchObject({ created: true, secret_version: 1 });
  expect(second.webhook_secret).not.toBe(first.webhook_secret);
});

test("what is on lease when its agent moves to a webhook is posted once the lease has run out", async () => {
  const webhook = await system.webhookAgent(() => ({ body: { content: "Yes." } }));
  const [sender, agent_name] = [await register("a"), await register("b")];
  await call({ session_id: unique("s"), sender, receiver: agent_name, deadline_s: 3_600 });
  expect((await receive(agent_name)).body.messages).toHaveLength(1);
  await registered(agent_name, byWebhook(webhook));
  moveClock(6 * 60_000);
  await system.sweep();
  await webhook.received(1);
});

test("what waits in an inbox is posted once its agent is registered with a webhook, in order", async () => {
  const [asker, agent_name, session_id] = [await register("asker"), await register("moving"), unique("s")];
  for (const content of ["1", "2", "3"]) await call({ session_id, sender: asker, receiver: agent_name, content });
  const webhook = await system.webhookAgent(({ body }) => ({ body: { content: `Got ${body.data.content}.` } }));

  await registered(agent_name, byWebhook(webhook));
  await webhook.received(3);

  expect(webhook.deliveries.map(({ body }) => body.data.content)).toEqual(["1", "2", "3"]);
  const replies = async () => (await receive(asker, { limit: 10 })).body.messages.map(({ content }) => content);
  await expect.poll(() => tool("remove_agent", { agent_name })).toMatchObject({ status: 200 });
  expect(await replies()).toEqual(["Got 1.", "Got 2.", "Got 3."]);
});

describe("remove_agent", () => {
  test("refuses while messages are open, of whatever kind, and removes the agent after", async () => {
    const [leader, agent_name] = [await register("lead", { role: "director" }), await register("writer")];
    const remove = () => tool("remove_agent", { agent_name });
    const open = async (count: number) => {
      const refused = await remove();
      expect(refused).toMatchObject({ status: 409, body: { agent_name, error: { type: "AGENT_HAS_MESSAGES" } } });
      expect(refused.body.error?.details).toEqual({ open: count });
    };
    const { call_id } = (await call({ session_id: unique("s"), sender: leader, receiver: agent_name })).body;
    const tasks = [{ name: "copy", executor: agent_name, content: "Write." }];
    const { body } = await assign({ session_id: unique("s"), leader, tasks });
    const own = (await call({ session_id: unique("s"), sender: agent_name, receiver: leader })).body;

    await open(2);
    await reply(call_id, agent_name);
    await open(1);
    await update(body.tasks[0]?.task_id ?? "", agent_name, "done");
    await reply(own.call_id, leader);
    await open(1);
    const [notice] = (await receive(agent_name)).body.messages;
    await receive(agent_name, { ack: [notice?.message_id] });

    expect(await remove()).toMatchObject({ status: 200, body: { code: 0, agent_name } });
    expect(await remove()).toMatchObject({ status: 404, body: { error: { type: "AGENT_NOT_FOUND" } } });
    expect((await call({ session_id: unique("s"), sender: leader, receiver: agent_name })).status).toBe(404);
    expect((await registered(agent_name)).body.created).toBe(true);
  });

  test("of an agent that is owed a reply lets the reply be given all the same", async () => {
    const [asker, writer] = [await register("asker"), await register("writer")];
    const { call_id } = (await call({ session_id: unique("s"), sender: asker, receiver: writer })).body;
    expect((await tool("remove_agent", { agent_name: asker })).status).toBe(200);
    expect((await reply(call_id, writer)).status).toBe(200);
  });
});

describe("list_agents", () => {
  test("finds agents by role and by skill, and says who is busy", async () => {
    const [skill, other] = [unique("翻译"), unique("testing")];
    const lead = await register("lead", { role: "director", skills: [skill] });
    const busy = await register("busy", { skills: [other, skill] });
    const free = await register("free", { skills: [skill], display_name: "空闲" });
    await register("stranger", { skills: [other] });
    await call({ session_id: unique("s"), sender: lead, receiver: busy });
    const found = async (input: object) =>
      (await tool("list_agents", input)).body.agents.map(({ agent_name, status }) => [agent_name, status]);

    await expect
      .poll(() => found({ skill }))
      .toEqual([
        [busy, "busy"],
        [free, "idle"],
        [lead, "idle"],
      ]);
    expect(await found({ skill, role: "member" })).toEqual([
      [busy, "busy"],
      [free, "idle"],
    ]);
    expect(await found({ skill, role: "master" })).toEqual([]);
    expect(await found({ skill: skill.slice(0, -1) })).toEqual([]);
  });

  test("gives the agents by name in pages, each once", async () => {
    const skill = unique("paging");
    const names = await Promise.all(["e", "B", "d", "a", "C"].map((name) => register(name, { skills: [skill] })));
    const pages: string[][] = [];
    for (let cursor = "", more = true; more; more = cursor !== "") {
      const { body } = await tool("list_agents", { skill, limit: 2, cursor });
      pages.push(body.agents.map(({ agent_name }) => agent_name));
      cursor = body.next_cursor;
    }
    const sorted = names.toSorted((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1));
    expect(pages).toEqual([sorted.slice(0, 2), sorted.slice(2, 4), sorted.slice(4)]);
  });

  test("shows when an agent was last there, and why its webhook failed last", async () => {
    const skill = unique("seen");
    const webhook = await system.webhookAgent(() => ({ status: 400 }));
    const [asker, inbox] = [await register("asker"), await register("i", { skills: [skill] })];
    const posted = await register("p", { skills: [skill], ...byWebhook(webhook) });
    await receive(inbox);
    expect((await call({ session_id: unique("s"), sender: asker, receiver: posted }, 20)).status).toBe(502);

    const listed = async () => (await tool("list_agents", { skill })).body.agents;
    await expect.poll(listed).toMatchObject([
      { agent_name: inbox, delivery: "inbox", last_seen_at: expect.stringMatching(/Z$/), last_delivery_error: "" },
      { agent_name: posted, delivery: "webhook", last_seen_at: "", last_delivery_error: expect.stringMatching("400") },
    ]);
  });

  test.each(["x y", "研发", "#"])("refuses %j as a cursor", async (cursor) => {
    const { status, body } = await tool("list_agents", { cursor });
    expect([status, body.error?.type]).toEqual([400, "INVALID_CURSOR"]);
  });
});
