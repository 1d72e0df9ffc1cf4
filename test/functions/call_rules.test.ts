import { afterAll, describe, expect, test } from "vitest";
import { acts, unique } from "../acts.ts";
import { moveClock } from "../clock.ts";
import { startTestSystem } from "../system.ts";
import { tableItems } from "../table_items.ts";

const system = await startTestSystem({ CALLS_PER_PAIR_MINUTE: "1000" });
afterAll(() => system.stop());
const { tool } = system;
const { call, receive, register, reply } = acts(tool);

type Called = Awaited<ReturnType<typeof call>>;

/** Expects that the call is refused for this reason and leaves no trace in the table. Answers its error. */
async function expectRefused(attempt: () => Promise<Called>, status: number, type: string) {
  const before = await tableItems();
  const answer = await attempt();
  expect(answer).toMatchObject({ status, body: { code: status, content: "", call_id: "", error: { type } } });
  expect(answer.body.error?.hint).not.toBe("");
  expect(await tableItems()).toEqual(before);
  return { ...answer.body.error, headers: answer.headers };
}

/** Starts a call that waits; answers once the receiver has it, with its id and the answer to come. */
async function startCall(session_id: string, sender: string, receiver: string) {
  const answer = call({ session_id, sender, receiver }, 20);
  const { messages } = (await receive(receiver, { session_id }, 20)).body;
  const call_id = messages[0]?.call_id ?? "";
  const end = async () => {
    await reply(call_id, receiver);
    expect(await answer).toMatchObject({ status: 200, body: { content: "Yes." } });
  };
  return { call_id, end };
}

describe("whom an agent may call", () => {
  test("not itself, in whatever case it writes the name", async () => {
    const sender = await register("Coder");
    for (const receiver of [sender, sender.toUpperCase()]) {
      await expectRefused(() => call({ session_id: unique("s"), sender, receiver }), 409, "SELF_CALL");
    }
  });

  test("no master, whether or not it would wait", async () => {
    const [sender, receiver] = [await register("coder"), await register("coach", { role: "master" })];
    for (const waitS of [0, 20]) {
      const refused = () => call({ session_id: unique("s"), sender, receiver }, waitS);
      const { hint } = await expectRefused(refused, 403, "MASTER_NOT_CALLABLE");
      expect(hint).toContain(receiver);
    }
  });

  test("a master calls anybody else", async () => {
    const [sender, receiver] = [await register("coach", { role: "master" }), await register("coder")];
    expect((await call({ session_id: unique("s"), sender, receiver })).status).toBe(202);
  });

  test("not an agent whose call it has yet to answer in this session: it is told to reply", async () => {
    const [writer, coder, session_id] = [await register("writer"), await register("coder"), unique("s")];
    const { call_id } = (await call({ session_id, sender: writer, receiver: coder })).body;
    const back = { session_id, sender: coder.toUpperCase(), receiver: writer.toUpperCase() };

    for (const waitS of [0, 20]) {
      const { hint, details } = await expectRefused(() => call(back, waitS), 409, "CURRENT_CONVERSATION");
      expect(hint).toContain(writer);
      expect(hint).toContain(call_id);
      expect(details).toEqual({ call_id });
    }

    expect((await call({ ...back, session_id: unique("s") })).status).toBe(202);
    await reply(call_id, coder);
    expect((await call(back)).status).toBe(202);
  });
});

describe("a ring of agents that wait for each other", () => {
  test("is not closed by the third of three, who learns who is in it", async () => {
    const [a, b, c, session_id] = [await register("a"), await register("b"), await register("c"), unique("s")];
    const [first, second] = [await startCall(session_id, a, b), await startCall(session_id, b, c)];
    const third = { session_id, sender: c, receiver: a };

    const { message, details } = await expectRefused(() => call(third, 20), 409, "CALL_CYCLE");

    expect(details).toEqual({ ring: [c, a, b, c] });
    expect(message).toContain([c, a, b, c].join(" → "));
    await second.end();
    await first.end();
  });

  test("is none when one of them does not wait", async () => {
    const [a, b, c, session_id] = [await register("a"), await register("b"), await register("c"), unique("s")];
    const [first, second] = [await startCall(session_id, a, b), await startCall(session_id, b, c)];

    expect((await call({ session_id, sender: c, receiver: a })).status).toBe(202);

    await second.end();
    await first.end();
  });

  test("is none across sessions", async () => {
    const [a, b, c, session_id] = [await register("a"), await register("b"), await register("c"), unique("s")];
    const [first, second] = [await startCall(session_id, a, b), await startCall(session_id, b, c)];
    const third = await startCall(unique("s"), c, a);
    for (const waiting of [third, second, first]) await waiting.end();
  });

  test("can't be closed any more once a wait of it is over, by a reply or by the clock", async () => {
    const [a, b, c, session_id] = [await register("a"), await register("b"), await register("c"), unique("s")];
    await (await startCall(session_id, a, b)).end();
    expect((await call({ session_id, sender: a, receiver: b }, 1)).status).toBe(202);
    const [second, third] = [await startCall(session_id, b, c), await startCall(session_id, c, a)];
    for (const waiting of [third, second]) await waiting.end();
  });
});

test("a wait whose function died, and which nobody ends, is over by the clock", async () => {
  const { reserveCall } = await import("../../functions/_table/sessions.ts");
  const [sender, receiver, sessionId] = [await register("dead"), await register("writer"), unique("s")];
  const edge = { receiver, until: Date.now() + 20_000, random: "0" };
  await reserveCall({ workspace: "local", sessionId, userName: "alice", sender, receiver, edge }, undefined);
  const back = { session_id: sessionId, sender: receiver, receiver: sender };
  await expectRefused(() => call(back, 20), 409, "CALL_CYCLE");

  moveClock(20_001);

  await (await startCall(sessionId, receiver, sender)).end();
});

test("calls nest eight deep: the ninth is refused, until its caller has answered its own", async () => {
  const session_id = unique("s");
  const chain = await Promise.all(Array.from({ length: 10 }, (_, n) => register(`nested${n}`)));
  const link = (n: number) => ({ session_id, sender: String(chain[n]), receiver: String(chain[n + 1]) });
  for (let n = 0; n < 7; n++) expect((await call(link(n))).status).toBe(202);
  const { call_id } = (await call(link(7))).body;

  await expectRefused(() => call(link(8)), 409, "CALL_DEPTH");

  await reply(call_id, String(chain[8]));
  expect((await call(link(8))).status).toBe(202);
});

test("64 messages wait for an agent in one session; the next is refused and may be tried again", async () => {
  const [sender, receiver, session_id] = [await register("asker"), await register("full"), unique("s")];
  const calls = await Promise.all(Array.from({ length: 64 }, () => call({ session_id, sender, receiver })));
  expect(calls.map(({ status }) => status)).toEqual(Array(64).fill(202));

  const refused = () => call({ session_id, sender, receiver });
  const { retryable, headers } = await expectRefused(refused, 429, "INBOX_FULL");
  expect(retryable).toBe(true);
  expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);

  expect((await call({ session_id: unique("s"), sender, receiver })).status).toBe(202);
  await reply(calls[0]?.body.call_id ?? "", receiver);
  expect((await call({ session_id, sender, receiver })).status).toBe(202);
});

describe("a session", () => {
  test("belongs to the user who was its first", async () => {
    const [sender, receiver, session_id] = [await register("asker"), await register("writer"), unique("s")];
    await call({ session_id, sender, receiver, user_name: "alice" });

    const foreign = () => call({ session_id, sender, receiver, user_name: "Alice" });

    await expectRefused(foreign, 409, "SESSION_USER_MISMATCH");
    expect((await call({ session_id, sender, receiver, user_name: "alice" })).status).toBe(202);
  });

  test("is another one when its id differs in case", async () => {
    const [sender, receiver, session_id] = [await register("asker"), await register("writer"), unique("s")];
    await call({ session_id, sender, receiver, user_name: "alice" });
    const other = { session_id: session_id.toUpperCase(), sender, receiver, user_name: "bob" };
    expect((await call(other)).status).toBe(202);
  });
});

describe("a name that nobody has", async () => {
  // A workspace of its own: only these two agents can be near.
  const key = await system.createKey({ workspace: "names" });
  const inNames: typeof tool = (name, input, options) => tool(name, input, { ...options, key });
  const session_id = unique("s");
  await inNames("register_agent", { agent_name: "engineer", role: "member" });
  await inNames("register_agent", { agent_name: "team-lead", role: "director", display_name: "研发组长" });
  const named = acts(inNames);

  test.each([
    ["enginer", ["engineer"]],
    ["Enginere", ["engineer"]],
    ["engineer ", ["engineer"]],
    ["team_lead", ["team-lead"]],
    ["研发组长", ["team-lead"]],
    ["研发组", ["team-lead"]],
    ["xy", []],
    ["", []],
    ["engineer#PROFILE", []],
  ])("%j as receiver is answered with near matches", async (receiver, near_matches) => {
    const unknown = () => named.call({ session_id, sender: "engineer", receiver }, 20);
    const { hint, details } = await expectRefused(unknown, 404, "RECEIVER_NOT_FOUND");

    expect(details).toEqual({ near_matches });
    for (const name of near_matches) expect(hint).toContain(`Did you mean ${name}?`);
  });

  test("as sender is refused as well", async () => {
    const unknown = () => named.call({ session_id, sender: "enginer", receiver: "engineer" });
    const { details } = await expectRefused(unknown, 404, "SENDER_NOT_FOUND");
    expect(details).toEqual({ near_matches: ["engineer"] });
  });
});

test("nobody speaks for another, whether or not that agent exists", async () => {
  const [writer, coder, session_id] = [await register("writer"), await register("coder"), unique("s")];
  const own = acts((name, input, options) => tool(name, input, { ...options, key }));
  const key = await system.createKey({ agents: [writer] });

  for (const sender of [coder, unique("nobody")]) {
    const refused = () => own.call({ session_id, sender, receiver: writer });
    expect((await expectRefused(refused, 403, "IDENTITY_MISMATCH")).details).toEqual({ may_speak_for: [writer] });
  }
  expect((await own.call({ session_id, sender: writer, receiver: coder })).status).toBe(202);
});
