import { expect } from "vitest";
import { type Action, type AgentName, project, type SessionId, sessions, userOf } from "./actions.ts";
import { isTaken, liveEdges, type Seen } from "./sight.ts";
import { atOnce, type Got, type Heard, type Result, type World } from "./world.ts";

/** The settings that the model counts on. */
export const deliveryAttempts = 3;
const leases = 5;
const leaseMs = 300_000;
const deepest = 8;

/** What the model knows of a message. */
interface Message {
  kind: "call" | "task" | "notice";
  sender: AgentName;
  receiver: AgentName;
  session: SessionId;
  status: Seen["head"]["status"];
  deadlineAt: number;
  deadlineS: number;
  /** Its sender waits until then. */
  waitsUntil: number;
  attempts: number;
  leases: number;
  leasedUntil: number;
  /** By a webhook's 2xx or an executor's progress: it is not delivered again. */
  taken: boolean;
  content: string;
  depth: number;
}

interface Assignment {
  session: SessionId;
  tasks: { key: string; refused: boolean }[];
  waitsUntil: number;
}

type ActionOf<Do extends Action["do"]> = Extract<Action, { do: Do }>;

/**
 * What ought to be, when one thing happens after another. `after` takes an action that was performed and what
 * came of it, says whether that was right, and follows.
 */
export class Model {
  readonly #messages = new Map<string, Message>();
  readonly #assignments = new Map<string, Assignment>();
  readonly #heard = new Map<string, Heard>();

  after(action: Action, result: Result, got: readonly (Got & { key: string })[]): void {
    const { key } = result;
    switch (action.do) {
      case "call":
        this.#called(action, result);
        break;
      case "assign":
        this.#assigned(action, result);
        break;
      case "reply":
        this.#replied(action, result);
        break;
      case "update":
        this.#updated(action, result);
        break;
      case "cancel call":
      case "cancel task":
        this.#cancelled(action, result);
        break;
      case "look at a call":
        if (key !== "") expect(result.content).toBe(this.#statusNow(this.#get(key)));
        break;
      case "receive":
        this.#received(action, result, got);
        break;
      case "time passes":
        this.#waitsOver();
        break;
      case "sweep":
        this.#swept();
        break;
      default:
        for (const each of got) this.#delivered(each);
    }
  }

  /** Everything that can be told apart from outside, and some that can't, must be as the model has it. */
  expectToBeAs({ sight, heard, waiting }: Pick<World, "sight" | "heard" | "waiting">): void {
    const now = Date.now();
    const found = Object.fromEntries([...sight.messages].map(([key, seen]) => [key, viewOf(seen, now)]));
    expect(found).toEqual(Object.fromEntries([...this.#messages].map(([key, message]) => [key, this.#view(message)])));
    for (const id of sessions) expect(liveEdges(sight, id).sort(), `edges of ${id}`).toEqual(this.#edges(id).sort());
    expect(heard).toEqual(this.#heard);
    expect(waiting.sort()).toEqual(this.#waiting().sort());
  }

  todos(agent: AgentName, user: string): string[] {
    const mine = [...this.#messages].filter(([, message]) => message.receiver === agent && this.#isTodo(message));
    const here = mine.filter(([, { session }]) => userOf[session] === user);
    const words = here.map(([key, { kind, sender }]) => (kind === "call" ? `reply to ${sender}` : `${project}/${key}`));
    return [...words, ...(mine.length > here.length ? ["busy for another user"] : [])];
  }

  // --- What agents do

  #called({ from, to, session, waitS, deadlineS }: ActionOf<"call">, { key, status, type, waits }: Result): void {
    const depth = this.#depth(from, session);
    expect(type, key).toBe(this.#reasonAgainst(from, to, session, waitS, depth));
    if (type !== undefined) return;
    expect(waits ?? status).toBe(waitS > 0 ? true : 202);
    this.#add(key, { kind: "call", sender: from, receiver: to, session }, deadlineS, {
      depth: depth + 1,
      waitsUntil: waitS === 0 ? 0 : Date.now() + waitS * 1000,
    });
  }

  #reasonAgainst(from: AgentName, to: AgentName, session: SessionId, waitS: number, depth: number) {
    if (from === to) return "SELF_CALL";
    if (this.#openCalls(from, session).some(({ sender }) => sender === to)) return "CURRENT_CONVERSATION";
    if (depth >= deepest) return "CALL_DEPTH";
    return waitS > 0 && this.#waitsFor(to, from, session) ? "CALL_CYCLE" : undefined;
  }

  #assigned({ session, executors, waitS, deadlineS }: ActionOf<"assign">, { key, status, content, waits }: Result) {
    const callers = this.#openCalls("lead", session).map(({ sender }) => sender);
    const tasks = executors.map((executor, index) => ({
      key: `${key}.${index}`,
      refused: executor === "lead" || callers.includes(executor),
    }));
    const accepted = tasks.filter(({ refused }) => !refused);
    if (waitS > 0 && accepted.length > 0) expect(waits).toBe(true);
    else
      expect([status, content]).toEqual([
        200,
        tasks.map(({ refused }) => (refused ? "rejected" : "assigned")).join(" "),
      ]);
    if (accepted.length === 0) return;
    this.#assignments.set(key, { session, tasks, waitsUntil: waitS === 0 ? 0 : Date.now() + waitS * 1000 });
    executors.forEach((receiver, index) => {
      if (tasks[index]?.refused) return;
      this.#add(`${key}.${index}`, { kind: "task", sender: "lead", receiver, session }, deadlineS);
    });
  }

  #replied({ by }: ActionOf<"reply">, { key, status, type, content }: Result): void {
    const call = this.#messages.get(key);
    if (call === undefined) return;
    const counts = by === "the receiver" && this.#isTodo(call);
    expect(counts ? status : type).toBe(counts ? 200 : "CALL_CLOSED");
    if (counts) this.#end(key, "answered", content);
  }

  #updated({ by, status: to }: ActionOf<"update">, { key, status, type, content = "" }: Result): void {
    const task = this.#messages.get(key);
    if (task === undefined) return;
    const counts = by === "the executor" && this.#isTodo(task);
    const refusal = by === "the executor" ? "TASK_CLOSED" : "TASK_NOT_FOUND";
    expect(counts ? status : type).toBe(counts ? 200 : refusal);
    if (!counts) return;
    if (to !== "running") {
      this.#end(key, to, content);
      return;
    }
    const deadlineAt = Math.max(task.deadlineAt, Date.now() + task.deadlineS * 1000);
    Object.assign(task, { status: "running", taken: true, leasedUntil: 0, content, deadlineAt });
  }

  #cancelled({ do: what }: Action, { key, status, type }: Result): void {
    const message = this.#messages.get(key);
    if (message === undefined) return;
    const counts = this.#isTodo(message);
    const isRepeat = message.status === "cancelled";
    const refusal = what === "cancel call" ? "CALL_CLOSED" : "TASK_CLOSED";
    expect(counts || isRepeat ? status : type).toBe(counts || isRepeat ? 200 : refusal);
    if (counts) this.#end(key, "cancelled");
  }

  #received(
    { agent, limit }: ActionOf<"receive">,
    { status, acked = [] }: Result,
    got: readonly { key: string }[],
  ): void {
    expect(status).toBe(200);
    for (const key of acked) if (this.#isOpen(this.#get(key))) this.#end(key, "told");
    const now = Date.now();
    const open = [...this.#messages].filter(([, message]) => message.receiver === agent && this.#isOpen(message));
    const untaken = open.filter(([, message]) => !message.taken && message.leasedUntil <= now);
    for (const [key] of untaken.filter(([, message]) => message.leases >= leases)) this.#end(key, "failed");
    const free = untaken.filter(([, message]) => message.leases < leases).map(([key]) => key);
    expect(got).toHaveLength(Math.min(limit, free.length));
    for (const { key } of got) {
      expect(free).toContain(key);
      const message = this.#get(key);
      Object.assign(message, {
        leases: message.leases + 1,
        leasedUntil: now + leaseMs,
        attempts: message.attempts + 1,
      });
    }
  }

  // --- What happens to them

  #delivered({ key, by }: Got & { key: string }): void {
    const message = this.#get(key);
    expect(this.#isOpen(message) && !message.taken, `${key} is delivered`).toBe(true);
    message.attempts++;
    const isNotice = message.kind === "notice";
    const isFinal = by === "refuses" || message.attempts === deliveryAttempts;
    if (by === "accepts" && !isNotice) message.taken = true;
    else if (by === "accepts" || by === "answers") this.#end(key, this.#goodEnd(message), isNotice ? "" : atOnce);
    else if (isFinal) this.#end(key, "failed");
  }

  readonly #goodEnd = ({ kind }: Message) => (({ call: "answered", task: "done", notice: "told" }) as const)[kind];

  #waitsOver(): void {
    const now = Date.now();
    for (const [key, message] of this.#messages) {
      if (message.waitsUntil === 0 || !isOpenStatus(message)) continue;
      // It sees its call's deadline pass, and is told by nothing else.
      if (message.deadlineAt <= now) this.#end(key, "timed_out", "", { senderKnows: true });
      else if (message.waitsUntil <= now) {
        message.waitsUntil = 0;
        this.#heard.set(key, { status: 202, content: "" });
      }
    }
    for (const [key, assignment] of this.#assignments) {
      if (assignment.waitsUntil > now || assignment.waitsUntil === 0 || this.#hasEnded(assignment)) continue;
      assignment.waitsUntil = 0;
      this.#heard.set(key, { status: 200, content: this.#statuses(assignment) });
    }
  }

  #swept(): void {
    const overdue = [...this.#messages].filter(
      ([, message]) => isOpenStatus(message) && message.deadlineAt < Date.now(),
    );
    for (const [key] of overdue) this.#end(key, "timed_out");
  }

  /** The end of a message, and what follows from it. */
  #end(key: string, status: Message["status"], content?: string, { senderKnows = false } = {}): void {
    const message = this.#get(key);
    const { kind, sender, receiver, session } = message;
    const isCancelled = status === "cancelled";
    Object.assign(message, { status, ...(content !== undefined && { content }) });
    if (kind === "notice") return;
    const isHeard = senderKnows || message.waitsUntil > Date.now();
    if (kind === "call" && isHeard) this.#heard.set(key, { status: answerOf[status] ?? 0, content: content ?? "" });
    else if (kind === "call" && !isCancelled) this.#notify(`reply to ${key}`, receiver, sender, session);
    if (isCancelled && message.attempts > 0) this.#notify(`withdrawal of ${key}`, sender, receiver, session);
    if (kind === "task") this.#taskEnded(key.split(".")[0] ?? "", receiver);
  }

  #taskEnded(key: string, sender: AgentName): void {
    const assignment = this.#assignments.get(key);
    if (assignment === undefined || !this.#hasEnded(assignment)) return;
    if (assignment.waitsUntil > Date.now()) {
      this.#heard.set(key, { status: 200, content: this.#statuses(assignment) });
    } else this.#notify(`report of ${key}`, sender, "lead", assignment.session);
  }

  #notify(key: string, sender: AgentName, receiver: AgentName, session: SessionId): void {
    expect(this.#messages.has(key), `a second ${key}`).toBe(false);
    this.#add(key, { kind: "notice", sender, receiver, session }, 86_400);
  }

  #add(
    key: string,
    facts: Pick<Message, "kind" | "sender" | "receiver" | "session">,
    deadlineS: number,
    more: Partial<Message> = {},
  ): void {
    const deadlineAt = Date.now() + deadlineS * 1000;
    const fresh = { status: "open", waitsUntil: 0, attempts: 0, leases: 0, leasedUntil: 0 } as const;
    this.#messages.set(key, {
      ...facts,
      ...fresh,
      deadlineS,
      deadlineAt,
      taken: false,
      content: "",
      depth: 0,
      ...more,
    });
  }

  // --- What it knows

  #get(key: string): Message {
    const message = this.#messages.get(key);
    if (message === undefined) throw new Error(`Nobody sent '${key}'.`);
    return message;
  }

  #isOpen = (message: Message) => isOpenStatus(message) && message.deadlineAt > Date.now();
  #isTodo = (message: Message) => message.kind !== "notice" && this.#isOpen(message);

  #openCalls(agent: AgentName, session: SessionId): Message[] {
    return [...this.#messages.values()].filter(
      (message) =>
        message.receiver === agent && message.session === session && message.kind === "call" && this.#isTodo(message),
    );
  }

  #depth = (agent: AgentName, session: SessionId) =>
    Math.max(0, ...this.#openCalls(agent, session).map(({ depth }) => depth));

  /** Calls whose sender waits. */
  #waits(session: SessionId): Message[] {
    const now = Date.now();
    const all = [...this.#messages.values()].filter((message) => message.session === session);
    return all.filter((message) => message.kind === "call" && this.#isOpen(message) && message.waitsUntil > now);
  }

  #edges = (session: SessionId) => this.#waits(session).map(({ sender, receiver }) => `${sender} → ${receiver}`);

  /** Directly, or through others. */
  #waitsFor(from: AgentName, to: AgentName, session: SessionId): boolean {
    const reached = new Set<AgentName>([from]);
    for (const agent of reached) {
      for (const { sender, receiver } of this.#waits(session)) if (sender === agent) reached.add(receiver);
    }
    return reached.has(to);
  }

  #waiting(): string[] {
    const now = Date.now();
    const assignments = [...this.#assignments].filter(([, found]) => found.waitsUntil > now && !this.#hasEnded(found));
    const calls = [...this.#messages].filter(([, message]) => isOpenStatus(message) && message.waitsUntil > now);
    return [...calls, ...assignments].map(([key]) => key);
  }

  /** As it is recorded: the clock alone ends no assignment. */
  #hasEnded = ({ tasks }: Assignment) => tasks.every(({ key, refused }) => refused || !isOpenStatus(this.#get(key)));

  #statuses({ tasks }: Assignment): string {
    const words = tasks.map(({ key, refused }) => (refused ? "rejected" : this.#statusNow(this.#get(key))));
    return words.map((word) => (word === "open" ? "assigned" : word)).join(" ");
  }

  #statusNow = (message: Message) => (isOpenStatus(message) && !this.#isOpen(message) ? "timed_out" : message.status);

  #view({ status, content, deadlineAt, attempts, leases, leasedUntil, taken, receiver, session }: Message) {
    const closed = { status, content, deadlineAt, attempts, receiver, session };
    return isOpenStatus({ status }) ? { ...closed, leases, isLeased: leasedUntil > Date.now(), taken } : closed;
  }
}

const isOpenStatus = ({ status }: Pick<Message, "status">) => status === "open" || status === "running";

const answerOf: Partial<Record<Message["status"], number>> = {
  answered: 200,
  failed: 502,
  timed_out: 504,
  cancelled: 410,
};

/** What the table says, in the model's words. */
function viewOf({ head, item, content }: Seen, now: number) {
  const { status, deadline_at: deadlineAt, receiver, session_id: session } = head;
  const { attempts } = item ?? head;
  const closed = { status, content, deadlineAt, attempts: attempts.length, receiver, session };
  if (item === undefined) return closed;
  return { ...closed, leases: item.leases, isLeased: item.claimed_until > now, taken: isTaken(item) };
}
