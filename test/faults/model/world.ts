import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { vi } from "vitest";
import type { ToolClient } from "../../tool_client.ts";
import type { DeliveryHandler } from "../../webhook_agent.ts";
import {
  type Action,
  type AgentName,
  agents,
  type How,
  project,
  type SessionId,
  statusOfHow,
  userOf,
  type WebhookAgent,
} from "./actions.ts";
import { isRequest, lookAt, type Seen, type Sight } from "./sight.ts";
import type { TestQueue } from "./test_queue.ts";

export type Tool = ToolClient;

/** What came of an action. */
export interface Result {
  /** The call, task or assignment that it was about; empty when there was nothing to do it to. */
  key: string;
  status: number;
  type?: string | undefined;
  /** It goes on waiting; its answer is in `heard` one day. */
  waits?: true;
  /** The text that it sent, or was answered; of an assignment the statuses of its tasks. */
  content?: string;
  /** Ids of notices that it acknowledged. */
  acked?: string[] | undefined;
}

const nothing: Result = { key: "", status: 0 };

/** Nothing that an agent could notice has happened. */
export const isSilent = (action: Action, { key }: Result) =>
  ["webhook changes", "lose a wake-up"].includes(action.do) ||
  (key === "" && ["reply", "cancel call", "look at a call", "update", "cancel task"].includes(action.do));

/** One delivery that an agent got. */
export interface Got {
  agent: AgentName;
  id: string;
  attempt: number;
  by: "inbox" | How;
  /** Which request or answer brought it. */
  batch: number;
}

/** What a waiting caller or leader was answered in the end. */
export interface Heard {
  status: number;
  content: string;
}

/** What a webhook that answers says. */
export const atOnce = "at once";

interface Waiting {
  answer: Promise<Heard>;
  done: boolean;
  /** How many actions there had been when it began. */
  since: number;
}

const mostWaits = 3;
const longestWait = 10;

interface Parts {
  workspace: string;
  tool: Tool;
  queue: TestQueue;
  sweep(): Promise<void>;
}

/** Reads of the test itself, which take no part in a race. */
export const unnoticed = new AsyncLocalStorage<true>();

const prefer = (waitS: number) => ({ headers: { prefer: waitS === 0 ? "respond-async" : `wait=${waitS}` } });

/** The agents of one workspace: does what actions say, and keeps what agents got and heard. */
export class World {
  readonly workspace: string;
  readonly tool: Tool;
  /** All deliveries, in order. */
  readonly got: Got[] = [];
  readonly heard = new Map<string, Heard>();
  /** The table, as it was after the last step. */
  sight: Sight;
  /** Whatever is no request to the table waits here for its turn in a race. */
  turn: () => Promise<void> = async () => {};
  readonly #queue: TestQueue;
  readonly #sweep: () => Promise<void>;
  readonly #waiting = new Map<string, Waiting>();
  readonly #how: Record<WebhookAgent, How> = { hugo: "answers", ines: "accepts", jan: "fails" };
  readonly #acked = new Set<string>();
  #made = 0;
  #performed = 0;

  constructor({ workspace, tool, queue, sweep }: Parts, sight: Sight) {
    this.workspace = workspace;
    this.tool = tool;
    this.#queue = queue;
    this.#sweep = sweep;
    this.sight = sight;
  }

  get waiting(): string[] {
    return [...this.#waiting.keys()];
  }

  async onDelivery(
    agent: WebhookAgent,
    { body: { data } }: Parameters<DeliveryHandler>[0],
  ): Promise<Awaited<ReturnType<DeliveryHandler>>> {
    await this.turn();
    const how = this.#how[agent];
    this.got.push({ agent, id: String(data.message_id), attempt: Number(data.attempt), by: how, batch: ++this.#made });
    return { status: statusOfHow[how], ...(how === "answers" && { body: { content: atOnce } }) };
  }

  /**
   * With the clock standing still, each wait asks the table a hundred times a second, and the gateway's patience
   * counts real seconds: so only some wait at once, and none for too many actions.
   */
  tamed(drawn: Action): Action[] {
    const waits = [...this.#waiting.values()];
    const action = "waitS" in drawn && waits.length >= mostWaits ? { ...drawn, waitS: 0 } : drawn;
    const isLong = waits.some(({ since }) => this.#performed - since > longestWait);
    return isLong ? [{ do: "time passes", seconds: 2 }, action] : [action];
  }

  /** Does it. A call or an assignment that waits is through once it is in its receiver's inbox. */
  async perform(action: Action): Promise<Result> {
    this.#performed++;
    switch (action.do) {
      case "call":
        return this.#call(action);
      case "reply":
        return this.#reply(action);
      case "cancel call":
        return this.#cancelCall(action);
      case "look at a call":
        return this.#look(action);
      case "receive":
        return this.#receive(action);
      case "assign":
        return this.#assign(action);
      case "update":
        return this.#update(action);
      case "cancel task":
        return this.#cancelTask(action);
      default:
        await this.turn();
        await this.#happen(action);
        return nothing;
    }
  }

  /** What no agent does. */
  async #happen(action: Action): Promise<void> {
    switch (action.do) {
      case "time passes":
        vi.setSystemTime(Date.now() + action.seconds * 1000);
        return;
      case "sweep":
        return this.#sweep();
      case "webhook changes":
        this.#how[action.agent] = action.how;
        return;
      case "deliver all":
        for (let next = this.#queue.next; next.length > 0; next = this.#queue.next) {
          await Promise.all(next.map((wakeUp) => this.#queue.deliver(wakeUp)));
        }
        return;
      case "deliver":
        return this.#withWakeUp(this.#queue.next, action.wakeUp, (wakeUp) => this.#queue.deliver(wakeUp));
      case "double a wake-up":
        return this.#withWakeUp(this.#queue.all, action.wakeUp, (wakeUp) => this.#queue.double(wakeUp));
      case "lose a wake-up":
        return this.#withWakeUp(this.#queue.all, action.wakeUp, async (wakeUp) => this.#queue.lose(wakeUp));
    }
  }

  async #withWakeUp<W>(wakeUps: readonly W[], which: number, act: (wakeUp: W) => Promise<void>): Promise<void> {
    const wakeUp = wakeUps[which % wakeUps.length];
    if (wakeUp !== undefined) await act(wakeUp);
  }

  async #call({ from, to, session, waitS, deadlineS }: Extract<Action, { do: "call" }>): Promise<Result> {
    const key = `c${++this.#made}`;
    const input = { session_id: session, user_name: userOf[session], sender: from, receiver: to, task_name: key };
    const answer = this.tool("call_agent", { ...input, content: key, deadline_s: deadlineS }, prefer(waitS));
    const result = answer.then(({ status, body }) => {
      return { key, status, type: body.error?.type, content: body.content, isMade: body.call_id !== "" };
    });
    return waitS === 0 ? result : this.#begin(key, session, [to], result);
  }

  async #assign({ session, executors, waitS, deadlineS }: Extract<Action, { do: "assign" }>): Promise<Result> {
    const key = `a${++this.#made}`;
    const tasks = executors.map((executor, index) => ({ executor, name: `${key}.${index}`, content: key }));
    const input = { session_id: session, user_name: userOf[session], leader: "lead", project_name: project };
    const whole = { ...input, content: key, tasks, deadline_s: deadlineS };
    const result = this.tool("assign_agent_work", whole, prefer(waitS)).then(({ status, body }) => {
      const content = body.tasks.map((task) => task.status).join(" ");
      return { key, status, type: body.error?.type, content, isMade: body.assignment_id !== "" };
    });
    return waitS === 0 ? result : this.#begin(key, session, executors, result);
  }

  /** Until it has been refused, or is in an inbox, from where on its sender or leader waits. */
  async #begin(
    key: string,
    session: SessionId,
    receivers: readonly AgentName[],
    result: Promise<Result & { content: string; isMade: boolean }>,
  ): Promise<Result> {
    const wait: Waiting = { answer: result, done: false, since: this.#performed };
    const answered = result.finally(() => {
      wait.done = true;
    });
    const isIn = unnoticed.run(true, async () => {
      while (!wait.done && !(await this.#isInInbox(key, session, receivers))) await sleep(2);
    });
    const first = await Promise.race([answered, isIn]);
    if (first !== undefined && !first.isMade) return first;
    this.#waiting.set(key, wait);
    return { key, status: 0, waits: true };
  }

  async #isInInbox(key: string, session: SessionId, receivers: readonly AgentName[]): Promise<boolean> {
    const { readGroup } = await import("../../../functions/_table/inbox.ts");
    const { sessionDigest } = await import("../../../functions/_table/keys.ts");
    const at = sessionDigest(session);
    const groups = await Promise.all(receivers.map((receiver) => readGroup(this.workspace, receiver, at)));
    return groups.flat().some(({ task_name }) => task_name === key || task_name.startsWith(`${key}.`));
  }

  async #reply({ call, by }: Extract<Action, { do: "reply" }>): Promise<Result> {
    const found = this.#pick("call", call);
    if (found === undefined) return nothing;
    const { id: call_id, receiver } = found.head;
    const sender = by === "the receiver" ? receiver : agents.find((agent) => agent !== receiver);
    const content = `reply ${++this.#made}`;
    const { status, body } = await this.tool("reply_call", { call_id, sender, content });
    return { key: found.key, status, type: body.error?.type, content };
  }

  async #cancelCall({ call }: Extract<Action, { do: "cancel call" }>): Promise<Result> {
    const found = this.#pick("call", call);
    if (found === undefined) return nothing;
    const { id: call_id, sender } = found.head;
    const { status, body } = await this.tool("cancel_call", { call_id, sender });
    return { key: found.key, status, type: body.error?.type };
  }

  async #look({ call }: Extract<Action, { do: "look at a call" }>): Promise<Result> {
    const found = this.#pick("call", call);
    if (found === undefined) return nothing;
    const { body } = await this.tool("get_call", { call_id: found.head.id, agent_name: found.head.sender });
    const isOpen = body.status === "queued" || body.status === "delivered";
    return { key: found.key, status: 200, content: isOpen ? "open" : body.status };
  }

  async #update({ task, status: to, by }: Extract<Action, { do: "update" }>): Promise<Result> {
    const found = this.#pick("task", task);
    if (found === undefined) return nothing;
    const { id: task_id, receiver } = found.head;
    const executor = by === "the executor" ? receiver : agents.find((agent) => agent !== receiver);
    const content = `${to} ${++this.#made}`;
    const { status, body } = await this.tool("update_task", { task_id, executor, status: to, detailed: content });
    return { key: found.key, status, type: body.error?.type, content };
  }

  async #cancelTask({ task }: Extract<Action, { do: "cancel task" }>): Promise<Result> {
    const found = this.#pick("task", task);
    if (found === undefined) return nothing;
    const { status, body } = await this.tool("cancel_task", { task_id: found.head.id, leader: "lead" });
    return { key: found.key, status, type: body.error?.type };
  }

  async #receive({ agent, limit, ack }: Extract<Action, { do: "receive" }>): Promise<Result> {
    const notices = this.got.filter((got) => got.agent === agent && got.id.startsWith("note_")).map(({ id }) => id);
    const acked = ack ? [...new Set(notices)].filter((id) => !this.#acked.has(id)) : [];
    const { status, body } = await this.tool("receive_messages", { agent_name: agent, limit, ack: acked });
    for (const id of acked) this.#acked.add(id);
    const batch = ++this.#made;
    for (const { message_id: id, attempt } of body.messages) this.got.push({ agent, id, attempt, by: "inbox", batch });
    return { key: agent, status, type: body.error?.type, acked };
  }

  /** Of all calls or tasks that there have been, open or not. */
  #pick(kind: "call" | "task", which: number): Seen | undefined {
    const all = [...this.sight.messages.values()].filter((seen) => isRequest(seen) && seen.head.kind === kind);
    const newestFirst = all.sort((a, b) => b.head.sent_at - a.head.sent_at || b.head.seq - a.head.seq);
    return newestFirst[which % newestFirst.length];
  }

  /** Looks at the table, once every wait that is over has come to its answer. */
  async settle(): Promise<void> {
    for (;;) {
      this.sight = await lookAt(this.workspace);
      const over = [...this.#waiting].filter(([key, wait]) => wait.done || !this.#waits(key));
      if (over.length === 0) return;
      for (const [key, { answer }] of over) {
        const { status, content } = await soon(answer, `the answer to ${key}, whose wait is over`);
        this.heard.set(key, { status, content });
        this.#waiting.delete(key);
      }
    }
  }

  /** Ends what still waits, so that nothing of a run that failed goes on beside the next. */
  async close(): Promise<void> {
    vi.setSystemTime(Date.now() + 86_400_000);
    await Promise.allSettled([...this.#waiting.values()].map(({ answer }) => answer));
  }

  #waits(key: string): boolean {
    const now = Date.now();
    const { item } = this.sight.messages.get(key) ?? {};
    if (item !== undefined) return (item.waiting_until ?? 0) > now && item.deadline_at > now;
    const assignment = this.sight.assignments.get(key);
    return assignment !== undefined && assignment.open > 0 && (assignment.waiting_until ?? 0) > now;
  }
}

async function soon<T>(promise: Promise<T>, what: string): Promise<T> {
  const late = sleep(10_000, undefined, { ref: false }).then(() => Promise.reject(new Error(`${what} does not come.`)));
  return Promise.race([promise, late]);
}
