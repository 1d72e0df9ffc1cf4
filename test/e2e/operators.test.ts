/*
 * What operators do with a deployed stage, by their own commands. Only for one that is thrown away: its queue is
 * purged.
 */
import { randomUUID } from "node:crypto";
import { GetQueueAttributesCommand, PurgeQueueCommand, SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { afterAll, describe, expect, test, vi } from "vitest";
import { messageGroup, sessionDigest } from "../../functions/_table/keys.ts";
import { deadLettersOf } from "../../infra/queues.ts";
import { connect } from "../../infra/systems.ts";
import { target, tool } from "../acceptance/target_client.ts";
import { acts, byWebhook, unique } from "../acts.ts";
import { startWebhookAgent } from "../webhook_agent.ts";
import { must, run } from "./programs.ts";

vi.setConfig({ testTimeout: 120_000 });

const stage = String(process.env.SWITCHBOARD_STAGE);
/** The workspace of the key that the tests have. */
const [, workspace = ""] = target.key.split("_");
const { call, receive, register, reply } = acts(tool);

/** Runs `npm run <name> -- <args>`; answers what it printed to stdout. */
const command = (name: string, ...args: string[]) => must("node", [`infra/${name}.ts`, ...args, "--stage", stage]);

describe("keys", () => {
  const keys = (...args: string[]) => command("keys", ...args, "--workspace", "acme");
  const statusFor = async (key: string) => (await tool("list_agents", {}, { key })).status;

  test("are issued, shown, rotated and revoked, and each change holds at once", async () => {
    const id = unique("k").replaceAll(/[^a-z0-9]/g, "");
    const first = await keys("create", "--id", id, "--scopes", "agent:read", "--agents", "writer", "--expires", "1d");
    expect(first).toMatch(new RegExp(`^sb_acme_${id}_[0-9a-f]{48}$`));
    expect(await statusFor(first)).toBe(200);
    expect((await tool("remove_agent", { agent_name: "writer" }, { key: first })).status).toBe(403);
    expect(await keys("list")).toMatch(new RegExp(`^${id} +in force +operator +writer .* agent:read$`, "m"));

    const second = await keys("rotate", "--id", id);
    expect([await statusFor(first), await statusFor(second)]).toEqual([401, 200]);

    expect(await keys("revoke", "--id", id)).toBe(`Key ${id} is revoked.`);
    expect(await statusFor(second)).toBe(401);
    expect(await keys("list")).toMatch(new RegExp(`^${id} +revoked `, "m"));
  });
});

test("sessions shows where each message of a session is, and no content", async () => {
  const [asker, writer, session_id] = [await register("asker"), await register("writer"), unique("s")];
  const answered = await call({ session_id, sender: asker, receiver: writer, content: "classified" });
  await receive(writer);
  await reply(answered.body.call_id, writer);
  const open = await call({ session_id, sender: asker, receiver: writer });

  const shown = await command("sessions", "show", session_id, "--workspace", workspace);

  expect(shown).toContain(`Session ${session_id} of alice: 2 calls`);
  expect(shown).toMatch(new RegExp(`call +${asker} +${writer} +answered .* ${answered.body.call_id}$`, "m"));
  expect(shown).toMatch(new RegExp(`call +${asker} +${writer} +queued .* ${open.body.call_id}$`, "m"));
  expect(shown).not.toContain("classified");
});

describe("redrive", async () => {
  const queueUrl = String((await connect({ stage, port: undefined })).MESSAGES_QUEUE_URL);
  const deadLetters = deadLettersOf(queueUrl);
  const sqs = new SQSClient({ useQueueUrlAsEndpoint: true });
  afterAll(() => sqs.destroy());
  const bury = (MessageBody: string, MessageGroupId: string) => {
    const MessageDeduplicationId = randomUUID();
    return sqs.send(
      new SendMessageCommand({ QueueUrl: deadLetters, MessageBody, MessageGroupId, MessageDeduplicationId }),
    );
  };
  const buried = async () => {
    const AttributeNames = ["ApproximateNumberOfMessages" as const];
    const { Attributes } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl: deadLetters, AttributeNames }));
    return Number(Attributes?.ApproximateNumberOfMessages);
  };

  test("puts a dead wake-up back, which deliver then works off, and leaves what is none", async () => {
    const webhook = await startWebhookAgent((_, index) =>
      index === 0 ? { status: 503 } : { body: { content: "Back again." } },
    );
    try {
      const [asker, writer, session_id] = [
        await register("asker"),
        await register("writer", byWebhook(webhook)),
        unique("s"),
      ];
      const { body } = await call({ session_id, sender: asker, receiver: writer });
      await webhook.received(1);
      // Its wake-up is out of the queue, as after too many receives.
      await sqs.send(new PurgeQueueCommand({ QueueUrl: queueUrl }));
      const session_at = sessionDigest(session_id);
      await bury(
        JSON.stringify({ workspace, receiver: writer, session_at }),
        messageGroup(workspace, writer, session_at),
      );
      await bury("not json", "nonsense");

      const printed = await command("redrive");

      expect(printed.split("\n")).toEqual([
        expect.stringMatching(/^No wake-up: \S+ "not json"$/),
        "1 message put back.",
        "1 message left in the dead-letter queue; --all puts them back too.",
      ]);
      await webhook.received(2);
      const ended = () => tool("get_call", { call_id: body.call_id, agent_name: asker });
      await vi.waitFor(async () => expect((await ended()).body).toMatchObject({ code: 0, content: "Back again." }), {
        timeout: 20_000,
        interval: 200,
      });
      expect(await buried()).toBe(1);
    } finally {
      await webhook.stop();
    }
  });
});

test("preflight compares the stage with the account's quota", async () => {
  expect(await command("preflight")).toMatch(
    new RegExp(`^Stage ${stage} fits into the account's \\d+ concurrent executions; .* \\d+ of them reserved\\.$`),
  );
});

test.each([
  ["keys", "list"],
  ["sessions", "show", "s-1"],
])("%s says in one line that a stage is not deployed", async (name, ...args) => {
  const all = [`infra/${name}.ts`, ...args, "--stage", "nowhere", "--workspace", "acme"];
  const { code, printed } = await run("node", all);
  expect(code).toBe(1);
  expect(printed).toBe(
    "Stack switchboard-nowhere-data can't be read: it is not deployed in this account and region. Check AWS_PROFILE and AWS_REGION.",
  );
});

describe("a web page of an allowed origin", () => {
  const origin = "https://console.example.com";
  const url = `${target.url}/v1/tools/list_agents`;

  test("may ask without a key what it may send", async () => {
    const asking = {
      "access-control-request-method": "POST",
      "access-control-request-headers": "authorization,prefer",
    };
    const { status, headers } = await fetch(url, { method: "OPTIONS", headers: { origin, ...asking } });
    expect(status).toBeLessThan(300);
    expect(headers.get("access-control-allow-origin")).toBe(origin);
    expect(headers.get("access-control-allow-headers")).toContain("authorization");
  });

  test("can read a refusal too, and another origin's page can't", async () => {
    const refused = (from: string) => fetch(url, { method: "POST", headers: { origin: from }, body: "{}" });
    const { status, headers } = await refused(origin);
    expect(status).toBe(401);
    expect(headers.get("access-control-allow-origin")).toBe(origin);
    expect(headers.get("access-control-allow-credentials")).toBeNull();
    expect((await refused("https://evil.example")).headers.get("access-control-allow-origin")).toBeNull();
  });
});
