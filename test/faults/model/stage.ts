import { vi } from "vitest";
import type { TestSystem } from "../../system.ts";
import type { DeliveryHandler } from "../../webhook_agent.ts";
import { type AgentName, agents, type WebhookAgent, webhookAgents } from "./actions.ts";
import { lookAt } from "./sight.ts";
import { TestQueue } from "./test_queue.ts";
import { type Tool, World } from "./world.ts";

type OnDelivery = (agent: WebhookAgent, ...delivery: Parameters<DeliveryHandler>) => ReturnType<DeliveryHandler>;

/** Where all runs of a file take place: a system whose queue and clock the test holds, and the agents' webhooks. */
export class Stage {
  readonly #system: TestSystem;
  readonly #queue: TestQueue;
  readonly #urls = new Map<string, string>();
  #onDelivery: OnDelivery = () => "hang up";
  #runs = 0;

  private constructor(system: TestSystem, queue: TestQueue) {
    this.#system = system;
    this.#queue = queue;
  }

  static async build(system: TestSystem): Promise<Stage> {
    const queue = new TestQueue(system.functions.deliver);
    await queue.install();
    const stage = new Stage(system, queue);
    for (const name of webhookAgents) {
      const { url } = await system.webhookAgent((...delivery) => stage.#onDelivery(name, ...delivery));
      stage.#urls.set(name, url);
    }
    return stage;
  }

  /** A new world: a workspace of its own with all agents, at the same instant for each run, so that a seed replays. */
  async open(): Promise<World> {
    vi.useFakeTimers({ toFake: ["Date"], now: new Date("2030-01-01T00:00:30Z") });
    const workspace = `run${++this.#runs}`;
    this.#queue.serve(workspace);
    const key = await this.#system.createKey({ workspace });
    const tool: Tool = (name, input, options) => this.#system.tool(name, input, { key, ...options });
    const { registerAgentWrite } = await import("../../../functions/_table/agents.ts");
    const { transact } = await import("../../../functions/_table/table.ts");
    await transact(agents.map((name) => registerAgentWrite(workspace, this.#profile(name), undefined)));
    const parts = { workspace, tool, queue: this.#queue, sweep: () => this.#system.sweep() };
    const world = new World(parts, await lookAt(workspace));
    this.#onDelivery = (agent, delivery) => world.onDelivery(agent, delivery);
    return world;
  }

  #profile(name: AgentName) {
    const webhook_url = this.#urls.get(name) ?? "";
    return {
      name,
      display_name: "",
      role: name === "lead" ? ("director" as const) : ("member" as const),
      skills: [],
      delivery: webhook_url === "" ? ("inbox" as const) : ("webhook" as const),
      webhook_url,
      answer_timeout_s: 60,
      secret_version: 1,
      secret_overlap_until: 0,
      created_at: Date.now(),
    };
  }
}
