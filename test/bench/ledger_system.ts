import { startSystem } from "../../infra/local/system.ts";
import { toolClient } from "../tool_client.ts";
import { startWebhookAgent, type WebhookAgent } from "../webhook_agent.ts";
import { type Cost, costOf, usedBy, waitingUnits } from "./account.ts";
import { type GrowthFigure, growTo, newHistory } from "./growth.ts";
import { Ledger } from "./ledger.ts";
import type { Used } from "./prices.ts";
import { newStage, roundTrips, uses } from "./uses.ts";

/** What one use of a tool costs. */
export interface UseCost {
  name: string;
  cost: Cost;
  waitingReadUnits: number;
  used: Used;
}

/**
 * A system in this process, where it can be seen who asks the engines for what. Once per process. It counts; its
 * times are of functions that share their thread with the callers.
 */
export async function startLedgerSystem() {
  const ledger = new Ledger();
  const system = await startSystem({
    port: 0,
    sweepEveryMs: 0,
    env: { CALLS_PER_SESSION: "1000000", CALLS_PER_PAIR_MINUTE: "1000000" },
    functions: ledger.functions,
  });
  const stopRecording = await ledger.begin();
  const agents: WebhookAgent[] = [];
  const webhookAgent: typeof startWebhookAgent = async (handler) => {
    const agent = await startWebhookAgent(handler);
    agents.push(agent);
    return agent;
  };
  const tool = toolClient(system.url, system.key);

  return {
    /** Each use of each tool, and whole round trips. */
    useCosts: async (): Promise<UseCost[]> => {
      const costs: UseCost[] = [];
      for (const [of, each] of [["", roundTrips] as const, ...Object.entries(uses)]) {
        for (const [what, prepare] of Object.entries(each)) {
          const use = await prepare(await newStage({ url: system.url, webhookAgent }));
          const account = await ledger.during(use);
          costs.push({
            name: of === "" ? what : `${of}: ${what}`,
            cost: costOf(account),
            waitingReadUnits: waitingUnits(account),
            used: usedBy(account),
          });
        }
      }
      return costs;
    },
    /** @param sizes ascending: how much has happened before */
    growth: async (sizes: readonly number[], rounds: number): Promise<GrowthFigure[]> => {
      const history = await newHistory(tool);
      const figures: GrowthFigure[] = [];
      for (const items of sizes) figures.push(...(await growTo(items, { ledger, tool, history }, rounds)));
      return figures;
    },
    stop: async (): Promise<void> => {
      stopRecording();
      await Promise.all(agents.map((agent) => agent.stop()));
      await system.stop();
    },
  };
}
