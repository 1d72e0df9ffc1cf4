import { acts, byWebhook, unique } from "../acts.ts";
import type { DeliveryHandler, WebhookAgent } from "../webhook_agent.ts";
import { sum } from "./account.ts";
import { type Summary, summary } from "./statistics.ts";
import type { Target } from "./target.ts";

/*
 * Under load, of a bench and of a test. Sessions send five calls each, all at once, to 20 agents, of which one fails and one hangs: once without the
 * calls to those two, once with them, so that it shows what they cost the others.
 */

export interface LoadFigures {
  calls: number;
  /** Calls to healthy agents whose reply did not come within two minutes. */
  lost: number;
  /** Calls whose sender was told of the reply twice, although it made its request only once: never allowed. */
  doubled: number;
  /** Requests that were answered 503, and made again under the same Idempotency-Key. */
  unavailable: number;
  /** Calls whose repeated request was answered with a reply that came as a message too, as nobody heard the first. */
  toldAgain: number;
  /**
   * Messages delivered again to an agent that had answered 2xx. Allowed while that is not stored: the connection
   * broke, the answer came after the agent's time, or the worker took longer than its claim. The same `webhook-id`
   * tells the agent, so it is the same message and no second one.
   */
  repeated: number;
  /** Deliveries that came before one of their group that was acknowledged earlier. */
  outOfOrder: number;
  /** Time to the reply of calls to healthy agents, without and with calls to failing agents beside them. */
  alone: Summary;
  beside: Summary;
}

const agentCount = 20;
export const failing = 0;
export const hanging = 1;
export const isHealthy = (agent: number) => agent !== failing && agent !== hanging;
const lostAfterMs = 120_000;

/** Three calls go to one agent, two to another: two groups in turn, and each agent has as many. */
const receiversOf = (session: number) => [0, 0, 7, 0, 7].map((away) => (session + away) % agentCount);

/** A call on its way; its key is its content and its task's name, so that its reply is known by it. */
interface Call {
  key: string;
  id: string;
  session: number;
  agent: number;
  /** Its place among its session's calls. */
  index: number;
  requests: number;
  startedAt: number;
  tookMs: number;
  /** What its sender was told, by what told it: the request's answer, or a message's `webhook-id`. */
  told: Map<string, string>;
  heard: PromiseWithResolvers<void>;
}

export class Load {
  readonly #target: Pick<Target, "tool" | "webhookAgent">;
  readonly #sessions: number;
  readonly #run = unique("run");
  readonly #calls = new Map<string, Call>();
  readonly #webhooks: WebhookAgent[] = [];
  /** Agents that are called, by number. */
  readonly names: string[] = [];
  readonly #callers: string[] = [];
  #home: WebhookAgent | undefined;
  #isOver = false;

  constructor(target: Pick<Target, "tool" | "webhookAgent">, sessions: number) {
    this.#target = target;
    this.#sessions = sessions;
  }

  get calls(): readonly Call[] {
    return [...this.#calls.values()];
  }

  async prepare(): Promise<void> {
    const { register } = acts(this.#target.tool);
    for (let agent = 0; agent < agentCount; agent++) {
      const webhook = await this.#target.webhookAgent(this.#handlerOf(agent));
      this.#webhooks.push(webhook);
      const answer_timeout_s = agent === hanging ? 1 : 60;
      this.names.push(await register("agent", { ...byWebhook(webhook), answer_timeout_s }));
    }
    // The callers' platform: takes the replies to calls that no longer wait.
    this.#home = await this.#target.webhookAgent(({ headers, body: { data } }) => {
      this.#hear(String(data.task_name), String(headers["webhook-id"]), String(data.content || data.status));
      return { status: 204 };
    });
    // One for each session: an agent takes ten deliveries at a time, and a thousand replies would queue for them.
    for (let session = 0; session < this.#sessions; session++) {
      this.#callers.push(await register("caller", byWebhook(this.#home)));
    }
  }

  #handlerOf(agent: number): DeliveryHandler {
    return ({ body: { data } }) => {
      if (isHealthy(agent)) return { body: { content: `re: ${String(data.content)}` } };
      if (this.#isOver) return { status: 410 };
      return agent === failing ? { status: 500 } : new Promise(() => {});
    };
  }

  #hear(key: string, by: string, content: string): void {
    const call = this.#calls.get(key);
    if (call === undefined) throw new Error(`Nobody made the call ${key}.`);
    if (call.told.size === 0) call.tookMs = performance.now() - call.startedAt;
    call.told.set(by, content);
    call.heard.resolve();
  }

  /** All sessions at once. Answers the calls to healthy agents, once each was heard of, or is lost. */
  async play(phase: string, mayCall: (agent: number) => boolean): Promise<Call[]> {
    const sessions = Array.from({ length: this.#sessions }, (_, session) => session);
    const made = await Promise.all(sessions.map((session) => this.#converse(phase, session, mayCall)));
    const ofHealthy = made.flat().filter(({ agent }) => isHealthy(agent));
    await Promise.race([Promise.all(ofHealthy.map(({ heard }) => heard.promise)), timeOut(lostAfterMs)]);
    return ofHealthy;
  }

  /** A session sends each call once the one before was acknowledged; every second session waits for replies as well. */
  async #converse(phase: string, session: number, mayCall: (agent: number) => boolean): Promise<Call[]> {
    const session_id = `${this.#run} ${phase} ${session}`;
    const receivers = receiversOf(session).filter(mayCall);
    const calls = receivers.map((agent, index) => newCall(`${session_id} ${index}`, session, agent, index));
    for (const call of calls) await this.#make(call, session_id);
    return calls;
  }

  async #make(call: Call, session_id: string): Promise<void> {
    const { key, session, agent } = call;
    const waits = session % 2 === 0 && isHealthy(agent);
    this.#calls.set(key, call);
    call.startedAt = performance.now();
    const input = {
      session_id,
      user_name: "alice",
      sender: String(this.#callers[session]),
      receiver: String(this.names[agent]),
      content: key,
      task_name: key,
    };
    const headers = { "idempotency-key": key.replaceAll(" ", "-"), prefer: waits ? "wait=20" : "respond-async" };
    for (;;) {
      call.requests += 1;
      const { status, body } = await this.#target.tool("call_agent", input, { headers });
      call.id = body.call_id;
      if (status === 200) return this.#hear(key, "answer", body.content);
      if (status === 202) return;
      // 503 says that nobody knows, and to send the same again.
      if (status !== 503) throw new Error(`${key}: ${body.msg}`);
    }
  }

  /** What is still tried ends at its next attempt, and leaves the next bench in peace. */
  end(): void {
    this.#isOver = true;
  }

  /** Every call's sender has heard of its end. */
  async ended(): Promise<void> {
    await Promise.all(this.calls.map(({ heard }) => heard.promise));
  }

  figures(alone: readonly Call[], beside: readonly Call[]): LoadFigures {
    const healthy = [...alone, ...beside];
    const taking = [...this.#webhooks.filter((_, agent) => isHealthy(agent)), ...(this.#home ? [this.#home] : [])];
    const toldTwice = this.calls.filter(({ told }) => told.size > 1);
    return {
      calls: this.#calls.size,
      lost: healthy.filter(({ key, told }) => ![...told.values()].includes(`re: ${key}`)).length,
      doubled: toldTwice.filter(({ requests }) => requests === 1).length,
      unavailable: sum(this.calls, ({ requests }) => requests - 1),
      toldAgain: toldTwice.filter(({ requests }) => requests > 1).length,
      repeated: sum(taking, ({ deliveries }) => repeats(deliveries)),
      outOfOrder: sum(this.#webhooks, ({ deliveries }) => this.#inversions(deliveries)),
      alone: summary(alone.map(({ tookMs }) => tookMs)),
      beside: summary(beside.map(({ tookMs }) => tookMs)),
    };
  }

  /** In a group, messages come first in the order in which they were sent. */
  #inversions(deliveries: Deliveries): number {
    const keys = [...new Set(deliveries.map(({ body }) => String(body.data.content)))];
    const came = keys.flatMap((key) => this.#calls.get(key) ?? []);
    // A key without its last word names the phase and the session.
    const groups = [...Map.groupBy(came, ({ key, agent }) => `${key.replace(/ \d+$/, "")} ${agent}`).values()];
    return sum(groups, (group) => group.filter(({ index }, at) => index < (group[at - 1]?.index ?? 0)).length);
  }
}

const newCall = (key: string, session: number, agent: number, index: number): Call => ({
  key,
  id: "",
  session,
  agent,
  index,
  requests: 0,
  startedAt: 0,
  tookMs: 0,
  told: new Map(),
  heard: Promise.withResolvers(),
});

type Deliveries = WebhookAgent["deliveries"];

const repeats = (deliveries: Deliveries) =>
  deliveries.length - new Set(deliveries.map(({ headers }) => headers["webhook-id"])).size;

const timeOut = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms).unref());

export async function loadFigures(target: Target, sessions: number): Promise<LoadFigures> {
  const load = new Load(target, sessions);
  await load.prepare();
  const alone = await load.play("alone", isHealthy);
  const beside = await load.play("beside", () => true);
  load.end();
  return load.figures(alone, beside);
}
