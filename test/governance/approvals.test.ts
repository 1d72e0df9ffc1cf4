import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { acts, unique } from "../acts.ts";
import { startTestSystem } from "../system.ts";

/*
 * A request that a person must approve: parked with the exact input, decided on, run once as its caller, and its result
 * picked up. The operator has raised approval for handing out work and for registering projects.
 */

const system = await startTestSystem({ APPROVAL_TOOLS: "assign_agent_work,register_project" });
afterAll(() => system.stop());
const { register, receive } = acts(system.tool);

const boss = await system.createKey({ actor: "boss@example.com", scopes: ["approval:read", "approval:decide"] });
const decide = (approval_id: string, decision = "approve", key = boss, headers = {}) =>
  system.tool("decide_approval", { approval_id, decision, comment: "So be it." }, { key, headers });
const pending = async () => (await system.tool("list_approvals", { limit: 20 }, { key: boss })).body.approvals;
const shown = async (approval_id: string) =>
  (await system.tool("list_approvals", { approval_id }, { key: boss })).body.approvals[0];

let lead = "";
let writer = "";
beforeAll(async () => {
  lead = await register("lead", { role: "director" });
  writer = await register("writer");
});

const work = (more: Record<string, unknown> = {}) => ({
  session_id: unique("s"),
  user_name: "alice",
  leader: lead,
  content: "Please begin.",
  project_name: "官网改版",
  tasks: [{ name: "首页文案", executor: writer, content: "写两句 😀." }],
  ...more,
});

async function held(
  input: Record<string, unknown> = work(),
  options: { key?: string; headers?: Record<string, string> } = {},
) {
  const { status, body } = await system.tool("assign_agent_work", input, options);
  expect(status).toBe(202);
  expect(body.error).toMatchObject({ type: "APPROVAL_REQUIRED", retryable: true });
  return { body, id: String(body.error?.details?.approval_id) };
}

const tasksOf = async (session_id: string) => {
  const { body } = await receive(writer, { session_id, limit: 10 });
  return body.messages.filter(({ kind }) => kind === "task");
};

describe("a request that needs approval", () => {
  test("is answered 202 in the tool's own shape, and nothing is done yet", async () => {
    const input = work();
    const { body } = await held(input);
    expect(body).toMatchObject({ code: 202, session_id: input.session_id, leader: lead, tasks: [], assignment_id: "" });
    expect(body.error?.hint).toContain("Idempotency-Key: apr_");
    expect(await tasksOf(input.session_id)).toEqual([]);
  });

  test("is shown to the person with the exact input that would run, who asks, and what the tool touches", async () => {
    const input = work();
    const { id } = await held(input);
    const approval = (await pending()).find(({ approval_id }) => approval_id === id);
    expect(approval).toMatchObject({
      status: "pending",
      tool: "assign_agent_work",
      risk_level: "medium",
      side_effect: "external",
      actor: "operator",
      agent_name: lead,
      source_ref: `switchboard://approvals/${id}`,
    });
    expect(JSON.parse(approval?.input ?? "")).toMatchObject({
      ...input,
      tasks: [expect.objectContaining(input.tasks[0] ?? {})],
    });
  });

  test("is told to the operators' topic once, without what it says", async () => {
    const { id } = await held();
    await system.sweep();
    await system.sweep();
    const told = system.notices.filter(({ message }) => message.includes(id));
    expect(told).toHaveLength(1);
    expect(told[0]).toMatchObject({ subject: "Switchboard: assign_agent_work waits for approval" });
    expect(told[0]?.message).not.toContain("写两句");
  });

  test("runs once when it is approved, as the one who asked; repeating the request brings the result", async () => {
    const input = work();
    const { id } = await held(input, { headers: { "idempotency-key": "once-approved" } });
    const { status, body } = await decide(id);
    expect({ status, outcome: body.status }).toEqual({ status: 200, outcome: "executed" });
    expect(JSON.parse(body.result)).toMatchObject({ code: 0, leader: lead });
    const repeat = await system.tool("assign_agent_work", input, { headers: { "idempotency-key": "once-approved" } });
    expect(repeat.status).toBe(200);
    expect(repeat.body.tasks).toMatchObject([{ name: "首页文案", executor: writer, status: "assigned" }]);
    expect(repeat.body.assignment_id).toBe(JSON.parse(body.result).assignment_id);
    expect(await tasksOf(input.session_id)).toHaveLength(1);
  });

  test("without an Idempotency-Key is picked up under the approval's id", async () => {
    const input = work();
    const { id, body } = await held(input);
    expect(body.error?.details?.idempotency_key).toBe(id);
    await decide(id);
    const repeat = await system.tool("assign_agent_work", input, { headers: { "idempotency-key": id } });
    expect(repeat.body.tasks).toMatchObject([{ status: "assigned" }]);
    expect(await tasksOf(input.session_id)).toHaveLength(1);
  });

  test("brings its result to the agent's inbox as well", async () => {
    const input = work();
    const { id } = await held(input);
    await decide(id);
    const { messages } = (await receive(lead, { session_id: input.session_id })).body;
    expect(messages).toMatchObject([
      {
        kind: "reply",
        status: "executed",
        sender: "",
        detailed: "assign_agent_work executed: So be it.",
        type: "json",
      },
    ]);
    expect(messages[0]?.source_ref).toBe(`switchboard://approvals/${id}`);
    expect(JSON.parse(messages[0]?.content ?? "")).toMatchObject({ code: 0, leader: lead });
  });

  test("goes to the agent's webhook", async () => {
    const agent = await system.webhookAgent(() => ({ status: 202 }));
    const caller = await register("caller", { role: "director", delivery: "webhook", webhook_url: agent.url });
    const { id } = await held(work({ leader: caller }));
    await decide(id, "deny");
    await agent.received(1);
    expect(agent.deliveries[0]?.body).toMatchObject({ type: "reply", data: { status: "denied", content: "" } });
  });

  test("asked twice at once under one key is parked once", async () => {
    const input = work();
    const headers = { "idempotency-key": "twice-at-once" };
    const answers = await Promise.all(Array.from({ length: 5 }, () => held(input, { headers })));
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
    const other = await system.tool("assign_agent_work", work(), { headers });
    expect(other.body.error?.type).toBe("IDEMPOTENCY_MISMATCH");
  });

  test("that the tool refuses ends as failed, and the caller gets that refusal for good", async () => {
    const input = work({ tasks: [], leader: writer });
    const { id } = await held(input, { headers: { "idempotency-key": "no-leader" } });
    const { body } = await decide(id);
    expect(body).toMatchObject({ code: 0, status: "failed", http_status: 403, error_type: "NOT_A_LEADER" });
    const repeat = await system.tool("assign_agent_work", input, { headers: { "idempotency-key": "no-leader" } });
    expect({ status: repeat.status, type: repeat.body.error?.type }).toEqual({ status: 403, type: "NOT_A_LEADER" });
  });

  test("with wrong input is refused at once and never parked", async () => {
    const before = (await pending()).length;
    const { status } = await system.tool("assign_agent_work", work({ leader: "", tasks: "none" }));
    expect(status).toBe(400);
    expect((await pending()).length).toBe(before);
  });

  test("holds an input of 500 KiB, whole", async () => {
    const tasks = Array.from({ length: 8 }, (_, index) => ({
      name: `t${index}`,
      executor: writer,
      content: "中".repeat(20_000),
    }));
    const input = work({ tasks });
    const { id } = await held(input);
    const approval = await shown(id);
    expect(JSON.parse(approval?.input ?? "").tasks).toMatchObject(tasks);
    expect((await decide(id)).body.status).toBe("executed");
  });

  test("still goes by its approval when the operator no longer asks for one", async () => {
    const input = work();
    const headers = { "idempotency-key": unique("k") };
    const { id } = await held(input, { headers });
    const { env } = await import("../../functions/_runtime/env.ts");
    const raised = env().APPROVAL_TOOLS;
    env().APPROVAL_TOOLS = [];
    onTestFinished(() => void Object.assign(env(), { APPROVAL_TOOLS: raised }));
    expect((await held(input, { headers })).id).toBe(id);
    expect((await system.tool("assign_agent_work", work())).body.tasks).toMatchObject([{ status: "assigned" }]);
    await decide(id);
    expect((await system.tool("assign_agent_work", input, { headers })).body.tasks).toMatchObject([
      { status: "assigned" },
    ]);
    expect(await tasksOf(input.session_id)).toHaveLength(1);
  });

  test("is of a tool that was raised: no other tool is held", async () => {
    const status = { agent_name: writer, user_name: "alice" };
    expect((await system.tool("get_agent_status", status)).status).toBe(200);
    const call = { session_id: unique("s"), user_name: "alice", sender: lead, receiver: writer, content: "?" };
    const { body } = await system.tool("call_agent", call, { headers: { prefer: "respond-async" } });
    expect(body.error).toBeUndefined();
  });
});

describe("a decision", () => {
  test("that denies is final: the tool never runs, and the caller learns why", async () => {
    const input = work();
    const headers = { "idempotency-key": unique("k") };
    const { id } = await held(input, { headers });
    expect((await decide(id, "deny")).body).toMatchObject({
      status: "denied",
      decided_by: "boss@example.com",
      result: "",
    });
    const repeat = await system.tool("assign_agent_work", input, { headers });
    expect(repeat.status).toBe(403);
    expect(repeat.body.error).toMatchObject({
      type: "APPROVAL_DENIED",
      message: 'A person has refused this and says "So be it.".',
    });
    expect((await decide(id)).body.error?.type).toBe("ALREADY_DECIDED");
    expect(await tasksOf(input.session_id)).toEqual([]);
  });

  test("made twice is refused by name, whichever it was", async () => {
    const { id } = await held();
    await decide(id);
    for (const decision of ["approve", "deny"]) {
      const { status, body } = await decide(id, decision);
      expect({ status, type: body.error?.type }).toEqual({ status: 409, type: "ALREADY_DECIDED" });
    }
  });

  test("made by ten people at once counts once, and the tool runs once", async () => {
    const input = work();
    const { id } = await held(input);
    const people = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        system.createKey({ actor: `p${index}@example.com`, scopes: ["approval:decide"] }),
      ),
    );
    const answers = await Promise.all(
      people.map((key, index) => decide(id, index % 3 === 0 ? "deny" : "approve", key)),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const { status, body } of answers) if (status !== 200) expect(body.error?.type).toBe("ALREADY_DECIDED");
    const ran = answers.find(({ status }) => status === 200)?.body.status === "executed";
    expect(await tasksOf(input.session_id)).toHaveLength(ran ? 1 : 0);
  });

  test.each(["approve", "deny"])(
    "to %s two requests at once under one Idempotency-Key counts for one of them",
    async (decision) => {
      const ids = [(await held()).id, (await held()).id];
      const headers = { "idempotency-key": unique("k") };
      const answers = await Promise.all(ids.map((id) => decide(id, decision, boss, headers)));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 422]);
      const states = await Promise.all(ids.map(async (id) => (await shown(id))?.status));
      expect(states.filter((state) => state === "pending")).toHaveLength(1);
    },
  );

  test("on one's own request is refused: by the same key, and by another key of the same person", async () => {
    const mine = await system.createKey({ actor: "Ann@example.com" });
    const alsoMine = await system.createKey({ actor: "ann@example.com", scopes: ["approval:decide"] });
    const { id } = await held(work(), { key: mine });
    for (const key of [mine, alsoMine]) {
      const { status, body } = await decide(id, "approve", key);
      expect({ status, type: body.error?.type }).toEqual({ status: 403, type: "SELF_APPROVAL" });
    }
    expect((await decide(id)).body.status).toBe("executed");
  });

  test("needs the permission to decide", async () => {
    const { id } = await held();
    const reader = await system.createKey({ actor: "reader", scopes: ["approval:read"] });
    expect((await decide(id, "approve", reader)).body.error?.type).toBe("PERMISSION_DENIED");
  });

  test("on another workspace's request is answered as if there were none", async () => {
    const { id } = await held();
    const foreign = await system.createKey({
      workspace: "other",
      actor: "x",
      scopes: ["approval:read", "approval:decide"],
    });
    const there = await decide(id, "approve", foreign);
    const nowhere = await decide("apr_1796034000000_0000000000000000", "approve", foreign);
    expect(there.status).toBe(404);
    expect(there.body.error?.type).toBe("APPROVAL_NOT_FOUND");
    expect({ ...there.body.error, message: "" }).toEqual({ ...nowhere.body.error, message: "" });
    expect((await system.tool("list_approvals", { approval_id: id }, { key: foreign })).status).toBe(404);
  });

  test("repeated under its Idempotency-Key answers with the state as it is", async () => {
    const { id } = await held();
    const headers = { "idempotency-key": unique("k") };
    const first = await decide(id, "approve", boss, headers);
    const second = await decide(id, "approve", boss, headers);
    expect(second.body).toEqual(first.body);
  });
});

describe("an approved request is not run when", () => {
  test("its key has been revoked since", async () => {
    const { parseToken, revokeApiKey } = await import("../../functions/_table/api_keys.ts");
    const token = await system.createKey({ actor: "leaver" });
    const input = work();
    const { id } = await held(input, { key: token });
    await revokeApiKey("local", parseToken(token)?.id ?? "", Date.now());
    const { status, body } = await decide(id);
    expect({ status, type: body.error?.type, state: body.status }).toEqual({
      status: 403,
      type: "KEY_REVOKED",
      state: "failed",
    });
    expect(await tasksOf(input.session_id)).toEqual([]);
  });

  test("its agent has another role by now", async () => {
    const leader = await register("leader", { role: "director" });
    const { id } = await held(work({ leader }));
    await system.tool("register_agent", { agent_name: leader, role: "master" });
    const { status, body } = await decide(id);
    expect({ status, type: body.error?.type }).toEqual({ status: 409, type: "ROLE_CHANGED" });
  });

  test("its tool's contract is another version by now", async () => {
    const { id } = await held();
    const { update } = await import("../../functions/_table/table.ts");
    const { approval } = await import("../../functions/_table/keys.ts");
    await update({
      Key: approval("local", id),
      UpdateExpression: "SET #tool_version = :old",
      ExpressionAttributeValues: { ":old": "0.9.0" },
    });
    const { status, body } = await decide(id);
    expect({ status, type: body.error?.type }).toEqual({ status: 409, type: "CONTRACT_CHANGED" });
  });

  test("nobody decided in time: it is refused by the clock, noted by the sweep, and told to the agent", async () => {
    const input = work();
    const headers = { "idempotency-key": unique("k") };
    const { id } = await held(input, { headers });
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 25 * 3_600_000, shouldAdvanceTime: true });
    onTestFinished(() => void vi.useRealTimers());
    const { status, body } = await decide(id);
    expect({ status, type: body.error?.type }).toEqual({ status: 410, type: "APPROVAL_EXPIRED" });
    const repeat = await system.tool("assign_agent_work", input, { headers });
    expect({ status: repeat.status, type: repeat.body.error?.type }).toEqual({ status: 410, type: "APPROVAL_EXPIRED" });
    await system.sweep();
    expect((await shown(id))?.status).toBe("expired");
    const { messages } = (await receive(lead, { session_id: input.session_id })).body;
    expect(messages).toMatchObject([{ kind: "reply", status: "expired" }]);
  });
});
