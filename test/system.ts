import { randomBytes } from "node:crypto";
import { inject } from "vitest";
import type { NewApiKey } from "../functions/_table/api_keys.ts";
import type { Functions } from "../infra/local/functions.ts";
import type { TopicNotice } from "../infra/local/sns.ts";
import { type System, startSystem } from "../infra/local/system.ts";
import { createKey } from "./create_key.ts";
import { type ToolClient, toolClient } from "./tool_client.ts";
import { type DeliveryHandler, startWebhookAgent, type WebhookAgent } from "./webhook_agent.ts";

/** For tests of the table alone: `startTestSystem({}, noFunctions)`. */
export const noFunctions: Functions = {
  tools: new Map(),
  catalog: async () => ({ statusCode: 404, body: "{}" }),
  mcp: async () => ({ statusCode: 404, body: "{}" }),
  deliver: async () => ({ batchItemFailures: [] }),
  sweep: async () => {},
  runSchedule: async () => {},
};

export interface TestSystem extends Omit<System, "stop"> {
  /** Calls a tool over HTTP, with the key that may do everything unless `options.key` says otherwise. */
  tool: ToolClient;
  /** Reads a JSON document, with the key that may do everything. */
  get(path: string): Promise<Record<string, unknown>>;
  /** Issues a key; what isn't given is wide open. Returns its token. */
  createKey(key?: Partial<NewApiKey>): Promise<string>;
  /** Runs the sweep worker, as if it were `aheadS` seconds later. Nothing else runs it in tests. */
  sweep(aheadS?: number): Promise<void>;
  /** What the operators' topic has heard. */
  notices: readonly TopicNotice[];
  /** Starts a webhook; it is stopped with the system. */
  webhookAgent(handler: DeliveryHandler): Promise<WebhookAgent>;
  stop(): Promise<void>;
}

/**
 * Starts the whole system for one test file, on the engines that all files share, with a table and queues of
 * its own. Once per file.
 * @param env settings of `functions/_runtime/env.ts`
 */
export async function startTestSystem(env: Record<string, string> = {}, functions?: Functions): Promise<TestSystem> {
  const notices: TopicNotice[] = [];
  const name = `test-${randomBytes(8).toString("hex")}`;
  const system = await startSystem({
    port: 0,
    dynamodbEndpoint: inject("dynamodbEndpoint"),
    fauxqsEndpoint: inject("fauxqsEndpoint"),
    tableName: name,
    queueName: `${name}.fifo`,
    bucketName: name,
    sweepEveryMs: 0,
    onNotice: (notice) => notices.push(notice),
    env: { RETRY_BASE_MS: "20", POWERTOOLS_LOG_LEVEL: "SILENT", ...env },
    ...(functions && { functions }),
  });
  const agents: WebhookAgent[] = [];
  return {
    ...system,
    notices,
    tool: toolClient(system.url, system.key),
    get: async (path) => {
      const response = await fetch(system.url + path, { headers: { authorization: `Bearer ${system.key}` } });
      return (await response.json()) as Record<string, unknown>;
    },
    createKey,
    sweep: (aheadS) => system.functions.sweep(aheadS === undefined ? {} : { ahead_s: aheadS }),
    webhookAgent: async (handler) => {
      const agent = await startWebhookAgent(handler);
      agents.push(agent);
      return agent;
    },
    stop: async () => {
      // First the agents, so that no delivery waits for an answer any more.
      await Promise.all(agents.map((agent) => agent.stop()));
      await system.stop(2_000);
    },
  };
}
