import { afterAll, describe, expect, test } from "vitest";
import type { Contract } from "../../functions/_runtime/contract.ts";
import { contracts } from "../../functions/tools.ts";
import { acts, unique } from "../acts.ts";
import { written } from "../functions/manifest_reader.ts";
import { gatewayEvent, run } from "../functions/wire.ts";
import { makeRepository } from "../repositories/fixture.ts";
import { startTestSystem } from "../system.ts";
import { tableItems } from "../table_items.ts";
import { changes } from "./changes.ts";
import { beginJournal } from "./journal.ts";

/* Who may act as whom, and what one workspace can learn of another: for every tool. */

const system = await startTestSystem();
afterAll(() => system.stop());
const { tool } = system;
const { assign, call, register } = acts(tool);

type Fields = Record<string, unknown>;

/** An input for each tool that works for a key that may do everything, with what it needs in place. */
const rightInput = async (name: string): Promise<Fields> =>
  name in changes ? ((await changes[name]?.(tool))?.input ?? {}) : reading();

/** A call, a project and a repository, and who is in them: more than enough for each tool that only reads. */
async function reading(): Promise<Fields> {
  const [lead, writer] = [await register("lead", { role: "director" }), await register("writer")];
  const { call_id } = (await call({ session_id: unique("s"), sender: lead, receiver: writer })).body;
  const project_name = unique("site");
  const tasks = [{ name: "text", executor: writer, content: "Write." }];
  const { assignment_id } = (await assign({ session_id: unique("s"), leader: lead, project_name, tasks })).body;
  const file = { repositoryId: await makeRepository({ "a.ts": "one\n" }), path: "a.ts", startLine: 1, endLine: 1 };
  return { agent_name: lead, user_name: "alice", call_id, project_name, assignment_id, ...file, query: "one" };
}

/** Of what is known, the tool's own parameters. */
const ofTool = ({ input }: Contract, known: Fields) =>
  Object.fromEntries(Object.entries(known).filter(([name]) => name in input.shape));

/** An answer, with every text that the caller sent itself left out. */
function withoutOwnWords({ status, body }: { status: number; body: object }, input: Fields): string {
  const words = textsOf(input).sort((a, b) => b.length - a.length);
  return words.reduce((text, word) => text.replaceAll(word, "…"), `${status} ${JSON.stringify(body)}`);
}

const textsOf = (value: unknown): string[] => {
  if (typeof value === "string") return value.length > 3 ? [value] : [];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsOf) : [];
};

const speaking: Contract[] = contracts.filter((contract: Contract) => contract.speaker !== undefined);

describe.each(speaking)("$name", (contract: Contract) => {
  const { name, speaker = "" } = contract;

  test("as another agent is refused alike, whether or not that agent exists, and writes nothing", async () => {
    const mine = await register("mine");
    const key = await system.createKey({ agents: [mine] });
    const input = ofTool(contract, await rightInput(name));
    const nobody = { ...input, [speaker]: unique("nobody") };
    const journal = await beginJournal();

    const [there, missing] = [await tool(name, input, { key }), await tool(name, nobody, { key })];

    expect(there).toMatchObject({
      status: 403,
      body: { code: 403, error: { type: "IDENTITY_MISMATCH", retryable: false, details: { may_speak_for: [mine] } } },
    });
    expect(withoutOwnWords(there, input)).toBe(withoutOwnWords(missing, nobody));
    expect(journal.writes()).toEqual([]);
  });
});

/** A key of a workspace where nothing is yet, so that no name there is near to one that is asked for. */
const keyElsewhere = () => system.createKey({ workspace: unique("w").replace("-", "") });

/** Expects one answer to both inputs with a key of another workspace, and that nothing changes in this one. */
async function expectSame(name: string, key: string, input: Fields, nowhere: Fields): Promise<void> {
  const before = await itemsOf("local");
  const [found, missing] = [await tool(name, input, { key }), await tool(name, nowhere, { key })];
  expect(found.status).not.toBe(400);
  expect(normal(withoutOwnWords(found, input))).toBe(normal(withoutOwnWords(missing, nowhere)));
  expect(await itemsOf("local")).toEqual(before);
}

describe.each(speaking.filter(({ name }) => !/^(register|remove)_agent$/.test(name)))("$name", (contract: Contract) => {
  const { name, speaker = "" } = contract;

  test("by an agent of the same name in another workspace reaches nothing of this one's", async () => {
    const input = ofTool(contract, await rightInput(name));
    const key = await keyElsewhere();
    await tool("register_agent", { agent_name: input[speaker], role: "director" }, { key });
    await expectSame(name, key, input, { ...renamed(input), [speaker]: input[speaker] });
  });
});

describe.each(written)("$name", (contract: Contract) => {
  const { name } = contract;

  test("in another workspace answers as if nothing of this one existed, and leaves it as it is", async () => {
    const input = ofTool(contract, await rightInput(name));
    await expectSame(name, await keyElsewhere(), input, renamed(input));
  });

  test("takes no principal from a gateway event that carries one but no key", async () => {
    const input = ofTool(contract, await rightInput(name));
    const { workspace, scopes, agents } = { workspace: "local", scopes: contract.permissions, agents: ["*"] };
    const principal = { workspace, keyId: "admin", actor: "root", scopes, agents };
    const event = gatewayEvent({ body: JSON.stringify(input), headers: { "content-type": "application/json" } });
    const forged = [
      { ...event, principal },
      { ...event, requestContext: { ...event.requestContext, principal, authorizer: { lambda: principal } } },
      { ...event, requestContext: { ...event.requestContext, authorizer: { jwt: { claims: principal } } } },
      { ...event, headers: { ...event.headers, principal: JSON.stringify(principal), "x-key-id": "admin" } },
    ];
    const journal = await beginJournal();
    for (const each of forged) {
      const { status, headers, body } = await run(system.functions.tools.get(name), each);
      expect({ status, type: Reflect.get(Object(body.error), "type") }).toEqual({
        status: 401,
        type: "UNAUTHENTICATED",
      });
      expect(headers["www-authenticate"]).toMatch(/^Bearer/);
    }
    expect(journal.writes()).toEqual([]);
  });
});

/** Names and ids that were never given out, in the form of those that were. */
function renamed<T>(value: T): T {
  if (Array.isArray(value)) return value.map(renamed) as T;
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, other(name, entry)])) as T;
  return value;
}
const other = (name: string, entry: unknown): unknown => {
  if (typeof entry !== "string") return renamed(entry);
  if (/_id$/.test(name) && name !== "session_id") return entry.replace(/.$/, (last) => (last === "0" ? "1" : "0"));
  return /^(agent_name|sender|receiver|leader|executor|project_name|session_id|repositoryId)$/.test(name)
    ? unique("nowhere")
    : entry;
};

/** What is new in each answer: a secret, and the ids and times of what was made. */
const normal = (text: string) =>
  text
    .replace(/whsec_[\w+/=]+/g, "whsec")
    .replace(/(call|task|asg)_[\w-]{22}_\w+/g, "$1_id")
    .replace(/apr_\d{13}_\w+/g, "apr_id")
    .replace(/sch_\d{13}_\w{12}/g, "sch_id")
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "time");

const itemsOf = async (workspace: string) =>
  new Map([...(await tableItems())].filter(([key]) => key.startsWith(`WS#${workspace}#`)));

test("list_agents shows a workspace its own agents, and near matches are its own", async () => {
  const key = await system.createKey({ workspace: "third" });
  const [mine, theirs] = [unique("writer"), await register("writer")];
  await tool("register_agent", { agent_name: mine, role: "member" }, { key });
  const { body } = await tool("list_agents", {}, { key });
  expect(body.agents.map(({ agent_name }) => agent_name)).toEqual([mine]);
  const status = await tool("get_agent_status", { agent_name: `${theirs}x`, user_name: "alice" }, { key });
  expect(status.body.error?.details).toEqual({ near_matches: [] });
});

test("an agent registered in two workspaces is two agents, with secrets, messages and sessions of their own", async () => {
  const key = await system.createKey({ workspace: "fourth" });
  const [sender, receiver] = [await register("asker"), unique("writer")];
  const profile = { agent_name: receiver, role: "member" };
  const here = await tool("register_agent", profile);
  const there = await tool("register_agent", profile, { key });
  expect(there.body).toMatchObject({ created: true });
  expect(there.body.webhook_secret).not.toBe(here.body.webhook_secret);
  const session_id = unique("s");
  await call({ session_id, sender, receiver });
  expect((await tool("receive_messages", { agent_name: receiver }, { key })).body.messages).toEqual([]);
  await tool("register_agent", { agent_name: sender, role: "member" }, { key });
  // The same session id, for another user: it is another session.
  const input = { session_id, user_name: "bob", sender, receiver, content: "Hello." };
  expect(await tool("call_agent", input, { key, headers: { prefer: "respond-async" } })).toMatchObject({ status: 202 });
});

describe("the sender of a call", () => {
  const forged = (name: string) => ({
    "x-agent-id": name,
    "x-sender": name,
    "x-agent-name": name,
    "x-workspace": "other",
    "x-forwarded-user": name,
    from: `${name}@example.com`,
    principal: JSON.stringify({ agents: ["*"] }),
  });

  test("is the agent that the key speaks for, whatever headers say", async () => {
    const [mine, boss, receiver] = [await register("mine"), await register("boss"), await register("writer")];
    const key = await system.createKey({ agents: [mine] });
    const input = { session_id: unique("s"), user_name: "alice", sender: mine, receiver, content: `From: ${boss}` };
    const headers = { prefer: "respond-async", ...forged(boss) };
    expect(await tool("call_agent", input, { key, headers })).toMatchObject({ status: 202 });
    const { body } = await tool("receive_messages", { agent_name: receiver });
    expect(body.messages).toMatchObject([{ sender: mine, receiver, content: `From: ${boss}` }]);
    const asBoss = await tool("call_agent", { ...input, sender: boss }, { key, headers });
    expect(asBoss).toMatchObject({ status: 403, body: { error: { type: "IDENTITY_MISMATCH" } } });
  });

  test.each(["from", "senderAgentId", "sender_name", "leader", "principal", "workspace"])(
    "can't be claimed by a parameter %s, which is refused by name",
    async (parameter) => {
      const [sender, receiver] = [await register("asker"), await register("writer")];
      const input = { session_id: unique("s"), user_name: "alice", sender, receiver, content: "Hello." };
      const journal = await beginJournal();
      const { status, body } = await tool("call_agent", { ...input, [parameter]: "human" });
      expect([status, body.error?.type]).toEqual([400, "INVALID_INPUT"]);
      expect(body.error?.message).toContain(parameter);
      expect(journal.writes()).toEqual([]);
    },
  );
});
