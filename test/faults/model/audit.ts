import { expect } from "vitest";
import { type Action, type AgentName, agents, sessions, userOf, webhookAgents } from "./actions.ts";
import { assignmentOf, isRequest, isTaken, liveEdges, type Seen, type Sight } from "./sight.ts";
import type { Result, World } from "./world.ts";

/*
 * What must hold at any moment, whatever happened and in which order: read from the table, from what agents
 * got and from what the tools say, without knowing what ought to have happened.
 */

const isOpen = ({ head }: Seen) => head.status === "open" || head.status === "running";
const isOpenNow = (seen: Seen) => isOpen(seen) && seen.head.deadline_at > Date.now();
const statusNow = (seen: Seen) => (isOpen(seen) && !isOpenNow(seen) ? "timed_out" : seen.head.status);

/** An action that was performed, and what came of it. */
type Done = readonly [Action, Result];

/** Follows one world from step to step. */
export class Audit {
  readonly #world: World;
  /** How a message ended, once it was seen to have ended. */
  readonly #ends = new Map<string, string>();
  /** The step in which a message was there first. */
  readonly #born = new Map<string, number>();
  /** Of each agent for each user, as the tool said last. */
  readonly #todos = new Map<string, string>();
  #steps = 0;
  /** How many deliveries there were at the last step. */
  #audited = 0;

  constructor(world: World) {
    this.#world = world;
  }

  async step(done: readonly Done[]): Promise<void> {
    const { sight, heard } = this.#world;
    this.#steps++;
    for (const id of sight.byId.keys()) if (!this.#born.has(id)) this.#born.set(id, this.#steps);
    expectOneRecordEach(sight);
    expectNoRing(sight);
    this.#expectEndsToStay();
    expectNoticesOnce(sight);
    for (const each of done) expectAsTold(sight, each);
    for (const [key, { status, content }] of heard) expectAsHeard(sight.messages.get(key), status, content);
    this.#expectDeliveriesInOrder();
    await this.#expectTodosAsOpen();
  }

  /** Once every webhook answers and sweep has been there: what counts by the clock is not forgotten. */
  expectReached(): void {
    const forWebhooks = [...this.#world.sight.messages.values()].filter(({ head }) => {
      return webhookAgents.some((agent) => agent === head.receiver);
    });
    const waiting = forWebhooks.filter((seen) => isOpenNow(seen) && seen.item && !isTaken(seen.item));
    expect(
      waiting.map(({ key }) => key),
      "what has not come to its webhook",
    ).toEqual([]);
  }

  /** Once everything has been worked off. */
  expectEnd(): void {
    const { sight, waiting, heard, got } = this.#world;
    expect(
      [...sight.messages.values()].filter(isOpen).map(({ key }) => key),
      "what never ended",
    ).toEqual([]);
    expect(waiting, "who still waits").toEqual([]);
    expect(sight.slots, "deliveries under way").toBe(0);
    const received = new Set(got.map(({ id }) => sight.byId.get(id)?.key));
    for (const { key, head } of sight.messages.values()) {
      if (head.kind !== "call" || head.about !== undefined || head.status === "cancelled") continue;
      const answers = [(heard.get(key)?.status ?? 202) !== 202, received.has(`reply to ${key}`)];
      expect(answers.filter(Boolean), `times that ${head.sender} heard of the end of ${key}`).toHaveLength(1);
    }
  }

  /** An outcome that was seen once never changes, whether the clock or a record said so. */
  #expectEndsToStay(): void {
    for (const seen of this.#world.sight.messages.values()) {
      const end = isOpenNow(seen) ? undefined : `${statusNow(seen)} ${seen.content}`;
      const before = this.#ends.get(seen.key) ?? end;
      expect(end, `the end of ${seen.key}`).toBe(before);
      if (end !== undefined) this.#ends.set(seen.key, end);
    }
  }

  /**
   * Of two messages in one group, of which one was there before the other was sent, the first is delivered
   * first; the next goes once the previous was accepted; and what was accepted by a webhook is not sent again.
   */
  #expectDeliveriesInOrder(): void {
    const { got, sight } = this.#world;
    got.slice(this.#audited).forEach(({ agent, id, by }, offset) => {
      const seen = sight.byId.get(id);
      if (seen === undefined) throw new Error(`${agent} got ${id}, which nobody sent.`);
      expect(seen.head.receiver, `who gets ${seen.key}`).toBe(agent);
      const index = this.#audited + offset;
      const accepted = got.slice(0, index).filter((each) => each.id === id && each.by !== "fails");
      if (by !== "inbox") expect(accepted, `${seen.key} again`).toEqual([]);
      const earlier = [...sight.messages.values()].filter((other) => this.#comesBefore(other, seen));
      expect(
        earlier.filter((other) => !this.#wasThrough(other, index)).map(({ key }) => key),
        `what should have come before ${seen.key}`,
      ).toEqual([]);
    });
    this.#audited = got.length;
  }

  /** Whether a message had been accepted by then, or had ended and never came after. */
  #wasThrough(earlier: Seen, index: number): boolean {
    const { got } = this.#world;
    const { by, batch } = got[index] ?? {};
    const deliveries = [...got.entries()].filter(([, { id }]) => id === earlier.head.id);
    // Of two requests to one inbox at once, it is not known which leased first.
    const isBefore = (at: number) => at < index || (by === "inbox" && at >= this.#audited && got[at]?.batch !== batch);
    const isOver = !isOpenNow(earlier) || earlier.head.status === "running";
    return (
      deliveries.some(([at, each]) => isBefore(at) && (by === "inbox" || each.by !== "fails")) ||
      (isOver && deliveries.every(([at]) => isBefore(at)))
    );
  }

  #comesBefore({ head: a }: Seen, { head: b }: Seen): boolean {
    if (a.receiver !== b.receiver || a.session_id !== b.session_id) return false;
    return (this.#born.get(a.id) ?? 0) < (this.#born.get(b.id) ?? 0);
  }

  /** Busy is open todos. Asked is about agents whose todos have changed. */
  async #expectTodosAsOpen(): Promise<void> {
    const { sight } = this.#world;
    const pairs = agents.flatMap((agent) => sessions.map((session) => ({ agent, user: userOf[session] })));
    const changed = pairs.filter(({ agent, user }) => {
      return (this.#todos.get(`${agent} ${user}`) ?? "") !== todosOf(sight, agent, user).join();
    });
    await Promise.all(changed.map(({ agent, user }) => this.#expectTodos(agent, user)));
  }

  async #expectTodos(agent_name: AgentName, user_name: string): Promise<void> {
    const { sight, tool } = this.#world;
    const todos = todosOf(sight, agent_name, user_name);
    const { body } = await tool("get_agent_status", { agent_name, user_name });
    expect(body.todos.toSorted(), `todos of ${agent_name}`).toEqual(todos);
    this.#todos.set(`${agent_name} ${user_name}`, todos.join());
  }
}

function todosOf({ messages }: Sight, agent: string, user: string): string[] {
  const todos = [...messages.values()].filter(
    (seen) => isRequest(seen) && isOpenNow(seen) && seen.head.receiver === agent,
  );
  const mine = todos.filter(({ head }) => head.user_name === user);
  const words = mine.map(({ key, head }) => {
    return head.kind === "call" ? `reply to ${head.sender}` : `${head.project_name}/${key}`;
  });
  return [...words, ...(todos.length > mine.length ? ["busy for another user"] : [])].sort();
}

/** What a tool answered is what the table says. */
function expectAsTold({ messages }: Sight, [action, { key, status, type, waits, content }]: Done): void {
  const seen = messages.get(key);
  const end = `${seen?.head.status} ${seen?.content}`;
  expect(["INTERNAL", "UNAVAILABLE"], `${action.do} ${key}`).not.toContain(type);
  switch (action.do) {
    case "call":
      expect(seen !== undefined, `${key} is made`).toBe(waits === true || status === 202);
      break;
    case "reply":
      if (status === 200) expect(end, key).toBe(`answered ${content}`);
      else if (type === "CALL_CLOSED") expect(seen?.content, key).not.toBe(content);
      break;
    case "update":
      if (status === 200 && action.status !== "running") expect(end, key).toBe(`${action.status} ${content}`);
      else if (type === "TASK_CLOSED") expect(seen?.content, key).not.toBe(content);
      break;
    case "look at a call":
      if (seen !== undefined && content !== "open") expect(statusNow(seen), key).toBe(content);
      break;
    case "cancel call":
    case "cancel task":
      if (status === 200) expect(seen?.head.status, key).toBe("cancelled");
  }
}

const endsHeard: Record<number, string> = { 200: "answered", 502: "failed", 504: "timed_out", 410: "cancelled" };

/** So is what a caller was answered after its wait. */
function expectAsHeard(call: Seen | undefined, status: number, content: string): void {
  expect([202, ...Object.keys(endsHeard).map(Number)]).toContain(status);
  if (call === undefined || status === 202) return;
  expect(`${call.head.status} ${call.content}`, call.key).toBe(`${endsHeard[status]} ${content}`);
}

/** What is open is in one inbox, and nothing else is. */
function expectOneRecordEach({ messages, byId, items, assignments }: Sight): void {
  expect(messages.size, "messages with a name of their own").toBe(byId.size);
  const open = [...messages.values()].filter(isOpen).map(({ head }) => head.id);
  expect(items.map(({ id }) => id).sort(), "inbox items").toEqual(open.sort());
  for (const [key, { open: count }] of assignments) {
    const tasks = [...messages.values()].filter((seen) => isRequest(seen) && assignmentOf(seen.key) === key);
    expect(count, `open tasks of ${key}`).toBe(tasks.filter(isOpen).length);
  }
}

function expectNoRing(sight: Sight): void {
  for (const id of sessions) {
    const edges = liveEdges(sight, id).map((edge) => edge.split(" → "));
    for (const [start] of edges) {
      const reached = new Set(edges.filter(([from]) => from === start).map(([, to]) => to));
      for (const agent of reached) for (const [from, to] of edges) if (from === agent) reached.add(to);
      expect(reached, `ring through ${start} in ${id}`).not.toContain(start);
    }
  }
}

/** A name is there once, so no notice is there twice; each tells of something that has ended. */
function expectNoticesOnce({ messages }: Sight): void {
  const notices = [...messages.values()].filter((seen) => !isRequest(seen));
  for (const { key } of notices) {
    const about = key.split(" ").at(-1) ?? "";
    const parts = [...messages.values()].filter((seen) => seen.key === about || assignmentOf(seen.key) === about);
    expect(
      parts.filter((seen) => isRequest(seen) && isOpen(seen)),
      `what ${key} is about`,
    ).toEqual([]);
  }
  for (const { key, head } of messages.values()) {
    if (head.kind !== "call" || head.about !== undefined) continue;
    expect(messages.has(`reply to ${key}`), `a reply to ${key} went out`).toBe(head.told_sender);
  }
}
