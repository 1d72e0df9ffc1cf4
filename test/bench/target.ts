import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { theSystem } from "../../infra/local/registry.ts";
import { startProcess } from "../local/start_process.ts";
import { type ToolClient, toolClient } from "../tool_client.ts";
import { startWebhookAgent, type WebhookAgent } from "../webhook_agent.ts";
import { type Entry, unpack } from "./operations.ts";
import type { Stage } from "./uses.ts";

/** The system that is measured: what `npm start` runs, in a process of its own. */
export interface Target extends Omit<Stage, "workspace"> {
  url: string;
  key: string;
  tool: ToolClient;
  /** The settings with which its engines are reached. */
  env: Record<string, string>;
  /** What the functions ask of the engines while `work` is done, in the order in which it began. */
  record(work: () => Promise<unknown>): Promise<{ operations: Entry[]; tookMs: number }>;
  stop(): Promise<void>;
}

/** Budgets that no bench uses up; everything else is as an operator gets it. */
const settings = { CALLS_PER_SESSION: "1000000", CALLS_PER_PAIR_MINUTE: "1000000" };

/** Longer than anything goes on after an answer. */
const afterwardsMs = 300;

/** @param args of `npm start` */
export async function startTarget(...args: string[]): Promise<Target> {
  const system = await startProcess(args, settings, join(import.meta.dirname, "preload.ts"));
  const agents: WebhookAgent[] = [];
  const order = async (record: boolean) => unpack(((await system.ask({ record })) as { recorded: string }).recorded);
  return {
    url: system.url,
    key: system.key,
    tool: toolClient(system.url, system.key),
    env: theSystem(system.port).env,
    webhookAgent: async (handler) => {
      const agent = await startWebhookAgent(handler);
      agents.push(agent);
      return agent;
    },
    record: async (work) => {
      await sleep(afterwardsMs);
      await order(true);
      const start = performance.now();
      await work();
      const tookMs = performance.now() - start;
      await sleep(afterwardsMs);
      const operations = (await order(false)).filter((operation) => !isSweeps(operation));
      return { operations: operations.toSorted((a, b) => a.startedAt - b.startedAt), tookMs };
    },
    stop: async () => {
      await Promise.all(agents.map((agent) => agent.stop()));
      await system.stop();
    },
  };
}

/** The sweeper may run at any moment; on a system where nothing is overdue it asks only this. */
const isSweeps = ({ input }: Entry) => JSON.stringify(input).includes('":pk":"DUE#');
