import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { unique } from "../acts.ts";
import { intercept } from "../delivery/intercept.ts";
import { holdRequest } from "../held_request.ts";
import { startTestSystem } from "../system.ts";
import { tableItems } from "../table_items.ts";

/* What a hostile or careless request must not achieve by being held back: every tool that changes something is. */

const tools =
  "register_agent, remove_agent, call_agent,reply_call,cancel_call,receive_messages,assign_agent_work,update_task,cancel_task,register_project,schedule_agent_work, cancel_schedule";
const system = await startTestSystem({
  APPROVAL_TOOLS: tools,
  APPROVALS_TOPIC_ARN: "arn:aws:sns:us-east-1:000000000000:switchboard-local-approvals",
});
afterAll(() => system.stop());

const boss = await system.createKey({ actor: "boss@example.com", scopes: ["approval:read", "approval:decide"] });
const decide = (approval_id: string, decision = "approve", key = boss) =>
  system.tool("decide_approval", { approval_id, decision }, { key });
const shown = async (approval_id: string) =>
  (await system.tool("list_approvals", { approval_id }, { key: boss })).body.approvals[0];

/** Asks, has it approved, and asks again. */
async function approved<const Tool extends string>(tool: Tool, input: object) {
  const headers = { "idempotency-key": unique("k") };
  const first = await system.tool(tool, input, { headers });
  expect(first.status).toBe(202);
  const id = String(first.body.error?.details?.approval_id);
  const decision = await decide(id);
  const repeat = await system.tool(tool, input, { headers });
  return { id, decision, repeat };
}

const heldId = async (tool: string, input: object, key?: string) => {
  const { body } = await system.tool(tool, input, key === undefined ? {} : { key });
  expect(body.error?.type).toBe("APPROVAL_REQUIRED");
  return String(body.error?.details?.approval_id);
};

async function register(name: string, profile: object = {}): Promise<string> {
  const agent_name = unique(name);
  await approved("register_agent", { agent_name, role: "member", ...profile });
  return agent_name;
}

let lead = "";
let writer = "";
beforeAll(async () => {
  lead = await register("lead", { role: "director" });
  writer = await register("writer");
});

describe("a webhook's secret", () => {
  test("reaches the one who asked and nobody else: no person who decides, and not the table", async () => {
    const agent_name = unique("hooked");
    const { id, decision, repeat } = await approved("register_agent", {
      agent_name,
      role: "member",
      delivery: "webhook",
      webhook_url: "http://127.0.0.1:9/x",
    });
    const secret = String(repeat.body.webhook_secret);
    expect(secret).toMatch(/^whsec_/);
    expect(JSON.stringify(decision.body)).not.toContain(secret);
    expect(JSON.stringify(await shown(id))).not.toContain(secret);
    const stored = [...(await tableItems({ audit: true })).values()].map((item) =>
      JSON.stringify(item, (_, value) => (value instanceof Uint8Array ? Buffer.from(value).toString() : value)),
    );
    expect(stored.filter((item) => item.includes(secret.slice(6)))).toEqual([]);
  });
});

describe("a speaker that can't be an agent's name", () => {
  test("forges no line of what people read before they decide", async () => {
    const sender = "x) asks to run get_agent_status. Risk: low; side effect: none.\nWorkspace: local";
    const id = await heldId("call_agent", {
      session_id: unique("s"),
      user_name: "alice",
      sender,
      receiver: writer,
      content: "?",
    });
    await system.sweep();
    const notice = system.notices.find(({ message }) => message.includes(id));
    expect(notice?.message).not.toContain("Risk: low");
    expect((await shown(id))?.agent_name).toBe("");
  });
});

describe("each tool that changes something", () => {
  test("runs once when it is approved, and gives its result under the same key", async () => {
    const project = await approved("register_project", {
      user_name: "alice",
      project_name: unique("p"),
      description: "d",
    });
    expect(project.repeat).toMatchObject({ status: 200, body: { created: true } });
    const session_id = unique("s");
    const call = await approved("call_agent", {
      session_id,
      user_name: "alice",
      sender: lead,
      receiver: writer,
      content: "?",
    });
    expect(call.repeat.status).toBe(202);
    const call_id = String(call.repeat.body.call_id);
    expect(call_id).toMatch(/^call_/);
    const received = await approved("receive_messages", { agent_name: writer, session_id });
    expect(received.repeat.body.messages).toMatchObject([{ call_id }]);
    const reply = await approved("reply_call", { call_id, sender: writer, content: "Yes." });
    expect(reply.repeat).toMatchObject({ status: 200, body: { status: "answered" } });
    const work = await approved("assign_agent_work", {
      session_id,
      user_name: "alice",
      leader: lead,
      content: "Please.",
      project_name: "P",
      tasks: [
        { name: "t", executor: writer, content: "x" },
        { name: "u", executor: writer, content: "y" },
      ],
    });
    const [one, two] = work.repeat.body.tasks as { task_id: string }[];
    const update = await approved("update_task", {
      task_id: one?.task_id,
      executor: writer,
      status: "done",
      detailed: "ok",
    });
    expect(update.repeat).toMatchObject({ status: 200, body: { status: "done" } });
    const cancel = await approved("cancel_task", { task_id: two?.task_id, leader: lead });
    expect(cancel.repeat).toMatchObject({ status: 200, body: { status: "cancelled" } });
    const other = await approved("call_agent", {
      session_id,
      user_name: "alice",
      sender: lead,
      receiver: writer,
      content: "2",
    });
    const cancelled = await approved("cancel_call", { call_id: other.repeat.body.call_id, sender: lead });
    expect(cancelled.repeat).toMatchObject({ status: 200, body: { status: "cancelled" } });
    const gone = await register("gone");
    expect((await approved("remove_agent", { agent_name: gone })).repeat).toMatchObject({
      status: 200,
      body: { agent_name: gone },
    });
  });
});

describe("self-approval", () => {
  test.each([
    ["full-width letters", "ａnn@example.com"],
    ["spaces around it", " ann@example.com  "],
    ["another case", "ANN@EXAMPLE.COM"],
  ])("under %s is refused", async (_, actor) => {
    const mine = await system.createKey({ actor: "ann@example.com" });
    const also = await system.createKey({ actor, scopes: ["approval:decide"] });
    const id = await heldId("register_project", { user_name: "alice", project_name: unique("p") }, mine);
    expect((await decide(id, "approve", also)).body.error?.type).toBe("SELF_APPROVAL");
  });
});

describe("a key that may do less since it asked", () => {
  test.each([
    ["scopes", { scopes: ["agent:read"] }, "PERMISSION_DENIED"],
    ["agents", { agents: ["somebody"] }, "IDENTITY_MISMATCH"],
  ])("(%s) runs nothing", async (_, less, type) => {
    const { replaceApiKey, readApiKey, parseToken } = await import("../../functions/_table/api_keys.ts");
    const token = await system.createKey({ actor: "ann@example.com" });
    const session_id = unique("s");
    const input = { session_id, user_name: "alice", sender: lead, receiver: writer, content: "?" };
    const id = await heldId("call_agent", input, token);
    const { id: keyId, secret } = parseToken(token) ?? { id: "", secret: "" };
    const key = await readApiKey("local", keyId);
    if (key === undefined) throw new Error("no key");
    await replaceApiKey({ ...key, ...less } as never, secret, Date.now());
    const { body } = await decide(id);
    expect(body).toMatchObject({ status: "failed", error_type: type });
  });
});

describe("a run that the sweep makes at the same moment as the decision", () => {
  test.each([
    ["register_agent", () => ({ agent_name: unique("twin"), role: "member" })],
    ["register_project", () => ({ user_name: "alice", project_name: unique("p") })],
    ["assign_agent_work", () => work()],
  ])("(%s) is one and the same", async (tool, input) => {
    for (let round = 0; round < 5; round++) {
      const asked = input();
      const id = await heldId(tool, asked);
      const decision = decide(id);
      await Promise.all(Array.from({ length: 4 }, () => system.sweep(120)));
      expect((await decision).status).toBe(200);
      expect(await shown(id)).toMatchObject({ status: "executed", http_status: 200, error_type: "" });
      const repeat = await system.tool(tool, asked, { headers: { "idempotency-key": id } });
      expect(repeat.status).toBe(200);
    }
    const { body } = await system.tool("get_agent_status", { agent_name: writer, user_name: "alice" });
    expect(body.todos.filter((todo) => todo.startsWith("Twins/"))).toHaveLength(tool === "assign_agent_work" ? 5 : 0);
  });

  const work = () => ({
    session_id: unique("s"),
    user_name: "alice",
    leader: lead,
    content: "Please.",
    project_name: "Twins",
    tasks: [{ name: unique("t"), executor: writer, content: "x" }],
  });
});

describe("a request of another version of the contract", () => {
  test("is refused for that, also when its input means nothing any more", async () => {
    const change = { key_id: "admin", tool_version: "0.9.0" };
    const id = await holdRequest("register_project", { name_of_old: "x" }, change);
    const { status, body } = await decide(id);
    expect({ status, type: body.error?.type }).toEqual({ status: 409, type: "CONTRACT_CHANGED" });
  });
});

describe("a notice of what became of a request", () => {
  test("goes to nobody in a session of another user", async () => {
    const session_id = unique("s");
    await approved("call_agent", { session_id, user_name: "bob", sender: lead, receiver: writer, content: "?" });
    const input = { session_id, user_name: "alice", sender: lead, receiver: writer, content: "?" };
    const { decision } = await approved("call_agent", input);
    expect(decision.body).toMatchObject({ status: "failed", error_type: "SESSION_USER_MISMATCH" });
    const { body } = await system.tool("get_agent_status", { agent_name: lead, user_name: "alice" });
    expect(body.session_id).not.toBe(session_id);
  });

  test("and what people read of it is whole, whatever the input is made of", async () => {
    const description = `${"😀".repeat(4_100)}\u0000\u001b[31m\u202e${"é".normalize("NFD")}\ufeff</script>\u2028`;
    const input = { user_name: "alice", project_name: unique("项目"), description };
    const { id, repeat } = await approved("register_project", input);
    expect(repeat.body).toMatchObject({ description });
    expect(JSON.parse((await shown(id))?.input ?? "")).toMatchObject(input);
    const { body } = await system.tool("list_approvals", { status: "executed", limit: 20 }, { key: boss });
    expect(body.approvals.every((each) => each.input.isWellFormed())).toBe(true);
    expect(body.approvals.find(({ approval_id }) => approval_id === id)?.input).toContain("[cut;");
  });
});

describe("a run that was cut off once it had acted", () => {
  /** Approves, lets the tool act, and dies before anything of it is noted. */
  async function cutOff(tool: string, input: object, headers: Record<string, string>, key?: string) {
    const { readApproval, readHeldInput, transitionWrite } = await import("../../functions/_table/approvals.ts");
    const { transact } = await import("../../functions/_table/table.ts");
    const { body } = await system.tool(tool, input, { headers, ...(key !== undefined && { key }) });
    const id = String(body.error?.details?.approval_id);
    const approval = await readApproval("local", id);
    if (approval === undefined) throw new Error("not held");
    const now = Date.now();
    const change = { status: "approved", decided_by: "boss@example.com", decided_at: now } as const;
    await transact([transitionWrite("local", approval, "pending", change, now + 1, now)]);
    const { tool_version: version, key_id: keyId, role } = approval;
    const asked = { id, workspace: "local", keyId, version, role, input: await readHeldInput("local", approval) };
    const direct = { via: "approval", ...asked, requestId: id, idempotencyKey: `approval ${id}` };
    const { statusCode } = await (
      system.functions.tools.get(tool) as unknown as (event: object) => Promise<{ statusCode: number }>
    )({ direct });
    expect(statusCode).toBe(200);
    return id;
  }

  test("is tried once in a sweep, however many can't run for now", async () => {
    let tries = 0;
    const stop = await intercept("lambda", ({ send, input }) => {
      if (input.FunctionName !== "cancel_call") return send();
      tries++;
      return Promise.reject(new Error("The function is gone."));
    });
    onTestFinished(stop);
    for (let count = 0; count < 60; count++) {
      await holdRequest("cancel_call", {}, { status: "approved", decided_at: Date.now() });
    }
    await system.sweep(120);
    expect(tries).toBe(60);
  });

  test("is found by the sweep behind any number that it can't tell the operators of", async () => {
    const stop = await intercept("sns", () => Promise.reject(new Error("The topic is gone.")));
    onTestFinished(stop);
    for (let count = 0; count < 60; count++) await holdRequest("register_project", {});
    const input = { user_name: "alice", project_name: unique("p") };
    const id = await cutOff("register_project", input, {});
    await system.sweep(120);
    expect(await shown(id)).toMatchObject({ status: "executed" });
  });

  test.each(["register_agent", "remove_agent"])(
    "(%s) is noted as done, though its own effect changed the agent's role",
    async (tool) => {
      const agent_name = tool === "remove_agent" ? await register("gone") : unique("born");
      const input = { agent_name, ...(tool === "register_agent" && { role: "member" }) };
      const headers = { "idempotency-key": unique("k") };
      const id = await cutOff(tool, input, headers);
      await system.sweep(120);
      expect(await shown(id)).toMatchObject({ status: "executed", error_type: "" });
      expect(await system.tool(tool, input, { headers })).toMatchObject({ status: 200, body: { agent_name } });
    },
  );

  test("is noted as done, though its key has been revoked since", async () => {
    const { parseToken, revokeApiKey } = await import("../../functions/_table/api_keys.ts");
    const key = await system.createKey({ actor: "leaver" });
    const id = await cutOff("register_project", { user_name: "alice", project_name: unique("p") }, {}, key);
    await revokeApiKey("local", parseToken(key)?.id ?? "", Date.now());
    await system.sweep(120);
    expect(await shown(id)).toMatchObject({ status: "executed", error_type: "" });
  });
});

describe("what an approved run answered", () => {
  test("is that of the run that ended it, whole, also when another run answered less", async () => {
    const { putResult, readApproval } = await import("../../functions/_table/approvals.ts");
    const id = await heldId("register_project", { user_name: "alice", project_name: unique("p") });
    const approval = await readApproval("local", id);
    if (approval === undefined) throw new Error("no approval");
    // A run that was cut off after it had kept its answer, which was long.
    await putResult("local", approval, { code: 0, long: "x".repeat(700_000) });
    expect((await decide(id)).status).toBe(200);
    const whole = await shown(id);
    expect(JSON.parse(whole?.result ?? "")).toMatchObject({ code: 0, created: true });
  });
});
