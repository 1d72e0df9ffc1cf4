import { Webhook } from "standardwebhooks";
import { afterAll, describe, expect, test, vi } from "vitest";
import { acts, byWebhook, unique } from "../acts.ts";
import { moveClock } from "../clock.ts";
import { startTestSystem } from "../system.ts";
import type { WebhookAgent } from "../webhook_agent.ts";

/* A receiver that knows its secret and nothing else, and verifies with the `standardwebhooks` library. */

const system = await startTestSystem();
afterAll(() => system.stop());
const { tool, webhookAgent } = system;
const { assign, call, receive, register } = acts(tool);

type Delivery = WebhookAgent["deliveries"][number];

/** Registers an agent with a webhook; answers its name and what registering it again answers. */
async function signed(webhook: WebhookAgent) {
  const agent_name = unique("writer");
  const again = async (more: object = {}) =>
    (await tool("register_agent", { agent_name, role: "member", ...byWebhook(webhook), ...more })).body;
  return { agent_name, again, secret: (await again()).webhook_secret };
}

function verify(secret: string, delivery: Delivery | undefined, raw = delivery?.raw) {
  if (delivery === undefined || raw === undefined) throw new Error("Nothing was delivered.");
  return new Webhook(secret).verify(raw, delivery.headers as Record<string, string>);
}

const ask = async (receiver: string, more: object = {}) =>
  call({ session_id: unique("s"), sender: await register("asker"), receiver, ...more }, 20);

describe("a delivery", () => {
  test("is verified over the bytes that came, whatever characters they stand for", async () => {
    const webhook = await webhookAgent(() => ({ body: { content: "Yes." } }));
    const { agent_name, secret } = await signed(webhook);
    const content = '写两句 "首页" 文案。\n👩‍👩‍👧 \u2028 \\u4e2d é 1.0';

    await ask(agent_name, { content });

    const [delivery] = webhook.deliveries;
    expect(verify(secret, delivery)).toEqual(delivery?.body);
    expect(delivery?.body).toMatchObject({
      type: "call",
      timestamp: expect.stringMatching(/Z$/),
      data: { kind: "call", content },
    });
    expect(delivery?.method).toBe("POST");
    expect(delivery?.headers).toMatchObject({
      "content-type": "application/json; charset=utf-8",
      "webhook-id": delivery?.body.data.message_id,
      "webhook-timestamp": expect.stringMatching(/^\d{10}$/),
      "webhook-signature": expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/),
    });
  });

  test("is not verified when its body, its id or its time was changed, or by another agent's secret", async () => {
    const webhook = await webhookAgent(() => ({ body: { content: "Yes." } }));
    const [{ agent_name, secret }, other] = [await signed(webhook), await signed(webhook)];
    await ask(agent_name, { content: "Pay 10." });
    const [delivery] = webhook.deliveries;
    if (delivery === undefined) throw new Error("Nothing was delivered.");
    const changed = (headers: object) => ({ ...delivery, headers: { ...delivery.headers, ...headers } });

    expect(() => verify(secret, delivery)).not.toThrow();
    expect(() => verify(secret, delivery, delivery.raw.replace("Pay 10.", "Pay 99."))).toThrow("No matching signature");
    expect(() => verify(secret, delivery, JSON.stringify(delivery.body, undefined, 1))).toThrow(
      "No matching signature",
    );
    expect(() => verify(secret, changed({ "webhook-id": "call_other" }))).toThrow("No matching signature");
    const later = String(Number(delivery.headers["webhook-timestamp"]) + 1);
    expect(() => verify(secret, changed({ "webhook-timestamp": later }))).toThrow("No matching signature");
    expect(() => verify(other.secret, delivery)).toThrow("No matching signature");
  });

  test("of every kind is signed: a task, the withdrawal of a call, a report, a late reply", async () => {
    const webhook = await webhookAgent(() => ({ status: 202 }));
    const [worker, lead] = [await signed(webhook), await signed(webhook)];
    await lead.again({ role: "director" });
    const [session_id, project_name] = [unique("s"), unique("site")];
    const ids = { session_id, sender: lead.agent_name, receiver: worker.agent_name };
    const tasks = [{ name: "text", executor: worker.agent_name, content: "Write." }];
    const { body } = await assign({ session_id, leader: lead.agent_name, project_name, tasks });
    const calls = [(await call(ids)).body.call_id, (await call(ids)).body.call_id];
    await webhook.received(3);

    await tool("update_task", { task_id: body.tasks[0]?.task_id, executor: worker.agent_name, status: "done" });
    await tool("reply_call", { call_id: calls[0], sender: worker.agent_name, content: "Late." });
    await tool("cancel_call", { call_id: calls[1], sender: lead.agent_name });
    await webhook.received(6);

    const seen = webhook.deliveries.map((delivery) => {
      const { receiver, kind, status } = delivery.body.data;
      verify(receiver === lead.agent_name ? lead.secret : worker.secret, delivery);
      return `${receiver === lead.agent_name ? "lead" : "worker"} ${kind} ${status}`;
    });
    expect(seen.toSorted()).toEqual([
      "lead reply answered",
      "lead report ended",
      "worker call ",
      "worker call ",
      "worker call cancelled",
      "worker task ",
    ]);
  });

  test("keeps its webhook-id over all attempts, each of which is signed at its own time", async () => {
    const webhook = await webhookAgent((_, index) => {
      if (index > 0) return { body: { content: "Yes." } };
      moveClock(2_000);
      return { status: 503 };
    });
    const { agent_name, secret } = await signed(webhook);
    await ask(agent_name);
    const [first, second] = webhook.deliveries;
    expect(second?.headers["webhook-id"]).toBe(first?.headers["webhook-id"]);
    expect(Number(second?.headers["webhook-timestamp"])).toBeGreaterThan(Number(first?.headers["webhook-timestamp"]));
    expect(second?.body.timestamp).not.toBe(first?.body.timestamp);
    for (const delivery of [first, second]) expect(() => verify(secret, delivery)).not.toThrow();
  });
});

describe("a secret", () => {
  test("is shown when the agent is made and when it is rotated, and at no other time", async () => {
    const webhook = await webhookAgent(() => ({ status: 202 }));
    const agent_name = unique("writer");
    const { again, secret } = await signed(webhook);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(await again()).toMatchObject({ webhook_secret: "", secret_version: 1, created: false });
    const rotated = await again({ rotate_secret: true });
    expect(rotated).toMatchObject({ secret_version: 2, created: false });
    expect(rotated.webhook_secret).not.toBe(secret);
    expect(await again()).toMatchObject({ webhook_secret: "", secret_version: 2 });
    const { body } = await tool("register_agent", { agent_name, role: "member", ...byWebhook(webhook) });
    expect(body.webhook_secret).not.toBe(secret);
    expect(JSON.stringify((await tool("list_agents")).body)).not.toContain("whsec_");
  });

  test("that was rotated verifies for another day beside the new one, and then no more", async () => {
    const webhook = await webhookAgent(() => ({ body: { content: "Yes." } }));
    const { agent_name, again, secret: old } = await signed(webhook);
    const { webhook_secret: fresh } = await again({ rotate_secret: true });

    const deliver = async () => {
      await ask(agent_name);
      const delivery = webhook.deliveries.at(-1);
      return { delivery, count: String(delivery?.headers["webhook-signature"]).split(" ").length };
    };

    for (let n = 0; n < 2; n++) {
      const { delivery, count } = await deliver();
      expect(count).toBe(2);
      for (const secret of [old, fresh]) expect(() => verify(secret, delivery)).not.toThrow();
      await again(); // Registering again without rotating ends the overlap no sooner.
    }
    moveClock(24 * 3_600_000 + 1_000);
    const { delivery, count } = await deliver();
    expect(count).toBe(1);
    expect(() => verify(fresh, delivery)).not.toThrow();
    expect(() => verify(old, delivery)).toThrow("No matching signature");
  });
});

test("an agent that changes from inbox to webhook gets what waited there, signed by the secret that it knows", async () => {
  const webhook = await webhookAgent(() => ({ body: { content: "Yes." } }));
  const agent_name = unique("writer");
  const { body } = await tool("register_agent", { agent_name, role: "member" });
  const sender = await register("asker");
  const { call_id } = (await call({ session_id: unique("s"), sender, receiver: agent_name })).body;

  await tool("register_agent", { agent_name, role: "member", ...byWebhook(webhook) });
  await webhook.received(1);

  expect(verify(body.webhook_secret, webhook.deliveries[0])).toMatchObject({ data: { call_id } });
  await vi.waitFor(async () =>
    expect((await receive(sender)).body.messages).toMatchObject([{ kind: "reply", call_id, content: "Yes." }]),
  );
});
