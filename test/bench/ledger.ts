import { AsyncLocalStorage } from "node:async_hooks";
import { EventEmitter, once } from "node:events";
import { parseDirectEvent } from "../../functions/_runtime/direct_event.ts";
import { contracts } from "../../functions/tools.ts";
import type { Functions } from "../../infra/local/functions.ts";
import type { HttpHandler } from "../../infra/local/gateway.ts";
import { type Entry, recordOperations } from "./operations.ts";

/** One run of a function. */
export interface Invocation {
  /** A tool's or a worker's name. */
  name: string;
  /** Started by another function, not by a request to the API. */
  isDirect: boolean;
  startedAt: number;
  endedAt: number;
}

/** What was used while something was done. */
export interface Account {
  entries: Entry[];
  invocations: Invocation[];
}

/**
 * Keeps account of what the functions of this process ask of the engines, and of who asked. To be made before the
 * system, which is started with its `functions`; `begin` is to be called after.
 */
export class Ledger {
  readonly #running = new AsyncLocalStorage<string>();
  readonly #ended = new EventEmitter();
  #account: Account = { entries: [], invocations: [] };
  #underWay = 0;
  /** Wake-ups that were sent and not yet worked off. */
  #wakeUps = 0;

  /** Every deployed function, loaded when it first runs: by then the system has set the environment. */
  readonly functions: Functions = {
    tools: new Map(contracts.map(({ name }) => [name, this.#kept<HttpHandler>(name, name)])),
    catalog: this.#kept("catalog", "_workers/catalog"),
    mcp: this.#kept("mcp", "_workers/mcp"),
    deliver: this.#kept("deliver", "_workers/deliver"),
    sweep: this.#kept("sweep", "_workers/sweep"),
    runSchedule: this.#kept("run_schedule", "_workers/run_schedule"),
  };

  /** Begins to record; returns how to end it. */
  begin(): Promise<() => void> {
    return recordOperations((operation) => {
      if (operation.command === "SendMessageBatch") this.#wakeUps += (operation.input.Entries as unknown[]).length;
      this.#account.entries.push({ ...operation, by: this.#running.getStore() ?? "" });
    });
  }

  /** What `work` uses, and what follows from it: every function has ended and every wake-up is worked off. */
  async during<T>(work: () => Promise<T>): Promise<Account & { result: T }> {
    await this.#settled();
    this.#account = { entries: [], invocations: [] };
    const result = await work();
    await this.#settled();
    const account = this.#account;
    this.#account = { entries: [], invocations: [] };
    return { ...account, result };
  }

  async #settled(): Promise<void> {
    while (this.#underWay > 0 || this.#wakeUps > 0) await once(this.#ended, "ended");
  }

  #kept<H extends (event: never) => Promise<unknown>>(name: string, folder: string): H {
    const kept = async (event: never): Promise<unknown> => {
      const { href } = new URL(`../../functions/${folder}/handler.ts`, import.meta.url);
      const { handler }: { handler: H } = await import(href);
      const startedAt = performance.now();
      this.#underWay += 1;
      try {
        const answer = await this.#running.run(name, () => handler(event));
        if (name === "deliver" && isWorkedOff(answer)) this.#wakeUps -= 1;
        return answer;
      } finally {
        this.#underWay -= 1;
        this.#account.invocations.push({
          name,
          isDirect: parseDirectEvent(event) !== undefined,
          startedAt,
          endedAt: performance.now(),
        });
        this.#ended.emit("ended");
      }
    };
    return kept as unknown as H;
  }
}

const isWorkedOff = (answer: unknown) =>
  ((answer as { batchItemFailures?: unknown[] }).batchItemFailures ?? []).length === 0;
