import { acts, byWebhook, unique } from "../acts.ts";
import type { DeliveryHandler, WebhookAgent } from "../webhook_agent.ts";
import { sum } from "./account.ts";
import { type Summary, summary } from "./statistics.ts";
import type { Target } from "./target.ts";

/*
 * Sessions send five calls each, all at once, to 20 agents, of which one fails and one hangs: once without the
 * calls to those two, once with them, so that it shows what they cost the others.
 */

export interface LoadFigures {
  calls: number;
  /** Calls to healthy agents whose reply did not come within two minutes. */
  lost: number;
  /** Calls whose sender heard the reply twice, although it made its request only once. */
  doubled: number;
  /** Requests that were answered 503, and made again under the same Idempotency-Key. */
  unavailable: number;
  /**
   * Deliveries made again to an agent that had answered: allowed until the answer is stored, when a worker takes
   * longer over it than its claim lasts. The same `webhook-id` tells the agent.
   */
  repeated: number;
  /** Deliveries that came before one of their group that was acknowledged earlier. */
  outOfOrder: number;
  /** Time to the reply of calls to healthy agents, without and with calls to failing agents beside them. */
  alone: Summary;
  beside: Summary;
}

const agentCount = 20;
const failing = 0;
const hanging = 1;
const isHealthy = (agent: number) => agent !== failing && agent !== hanging;
const lostAfterMs = 120_000;

/** Three calls go to one agent, two to another: two groups in turn, and each agent has as many. */
const receiversOf = (session: number) => [0, 0, 7, 0, 7].map((away) => (session + away) % agentCount);

/** A call on its way; its key is its content and its task's name, so that its reply is known by it. */
interface Call {
  key: string;
  session_id: string;
  agent: number;
  /** Its place among its session's calls. */
  index: number;
  requests: number;
  startedAt: number;
  tookMs: number;
  replies: string[];
  heard: PromiseWithResolvers<void>;
}

class Load {
  readonly #target: Target;
  readonly #sessions: number;
  readonly #run = unique("run");
  readonly #calls = new Map<string, Call>();
  readonly #webhooks: WebhookAgent[] = [];
  readonly #names: string[] = [];
  #caller = "";
  #isOver = false;

  constructor(target: Target, sessions: number) {
    this.#target = target;
    this.#sessions = sessions;
  }

  async prepare(): Promise<void> {
    const { register } = acts(this.#target.tool);
    for (let agent = 0; agent < agentCount; agent++) {
      const webhook = await this.#target.webhookAgent(this.#handlerOf(agent));
      this.#webhooks.push(webhook);
      const answer_timeout_s = agent === hanging ? 1 : 60;
      this.#names.push(await register("agent", { ...byWebhook(webhook), answer_timeout_s }));
    }
    // The callers' platform: takes the replies to calls that no longer wait.
    const home = await this.#target.webhookAgent(({ body: { data } }) => {
      this.#hear(String(data.task_name), String(data.content || data.status));
      return { status: 204 };
    });
    this.#caller = await register("caller", byWebhook(home));
  }

  #handlerOf(agent: number): DeliveryHandler {
    return ({ body: { data } }) => {
      if (isHealthy(agent)) return { body: { content: `re: ${String(data.content)}` } };
      if (this.#isOver) return { status: 410 };
      return agent === failing ? { status: 500 } : new Promise(() => {});
    };
  }

  #hear(key: string, content: string): void {
    const call = this.#calls.get(key);
    if (call === undefined) return;
    call.replies.push(content);
    call.tookMs = performance.now() - call.startedAt;
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
    const calls = receiversOf(session)
      .filter(mayCall)
      .map(
        (agent, index): Call => ({
          key: `${session_id} ${index}`,
          session_id,
          agent,
          index,
          requests: 0,
          startedAt: 0,
          tookMs: 0,
          replies: [],
          heard: Promise.withResolvers(),
        }),
      );
    for (const call of calls) await this.#make(call, session % 2 === 0 && isHealthy(call.agent));
    return calls;
  }

  async #make(call: Call, waits: boolean): Promise<void> {
    const { key, session_id, agent } = call;
    this.#calls.set(key, call);
    call.startedAt = performance.now();
    const input = {
      session_id,
      user_name: "alice",
      sender: this.#caller,
      receiver: String(this.#names[agent]),
      content: key,
      task_name: key,
    };
    const headers = { "idempotency-key": key.replaceAll(" ", "-"), prefer: waits ? "wait=20" : "respond-async" };
    for (;;) {
      call.requests += 1;
      const { status, body } = await this.#target.tool("call_agent", input, { headers });
      if (status === 200) return this.#hear(key, body.content);
      if (status === 202) return;
      // 503 says that nobody knows, and to send the same again.
      if (status !== 503) throw new Error(`${key}: ${body.msg}`);
    }
  }

  /** What is still tried ends now, and leaves the next bench in peace. */
  end(): void {
    this.#isOver = true;
  }

  figures(alone: readonly Call[], beside: readonly Call[]): LoadFigures {
    const healthy = [...alone, ...beside];
    const healthyWebhooks = this.#webhooks.filter((_, agent) => isHealthy(agent));
    return {
      calls: this.#calls.size,
      lost: healthy.filter(({ key, replies }) => !replies.includes(`re: ${key}`)).length,
      doubled: healthy.filter(({ replies, requests }) => replies.length > 1 && requests === 1).length,
      unavailable: sum([...this.#calls.values()], ({ requests }) => requests - 1),
      repeated: sum(healthyWebhooks, ({ deliveries }) => repeats(deliveries)),
      outOfOrder: sum(this.#webhooks, ({ deliveries }) => this.#inversions(deliveries)),
      alone: summary(alone.map(({ tookMs }) => tookMs)),
      beside: summary(beside.map(({ tookMs }) => tookMs)),
    };
  }

  /** In a group, messages come first in the order in which they were sent. */
  #inversions(deliveries: Deliveries): number {
    const keys = [...new Set(deliveries.map(({ body }) => String(body.data.content)))];
    const came = keys.flatMap((key) => this.#calls.get(key) ?? []);
    const groups = [...Map.groupBy(came, ({ session_id, agent }) => `${session_id} ${agent}`).values()];
    return sum(groups, (group) => group.filter(({ index }, at) => index < (group[at - 1]?.index ?? 0)).length);
  }
}

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
