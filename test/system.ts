import { randomBytes } from "node:crypto";
import { inject } from "vitest";
import { permissions } from "../functions/_runtime/contract.ts";
import type { NewApiKey } from "../functions/_table/api_keys.ts";
import type { Functions } from "../infra/local/functions.ts";
import { newSecret } from "../infra/local/new_secret.ts";
import { type System, startSystem } from "../infra/local/system.ts";
import { type ToolClient, toolClient } from "./tool_client.ts";
import { type DeliveryHandler, startWebhookAgent, type WebhookAgent } from "./webhook_agent.ts";

/** For tests of the table alone: `startTestSystem({}, noFunctions)`. */
export const noFunctions: Functions = {
  tools: new Map(),
  catalog: async () => ({ statusCode: 404, body: "{}" }),
  deliver: async () => ({ batchItemFailures: [] }),
  sweep: async () => {},
};

export interface TestSystem extends Omit<System, "stop"> {
  /** Calls a tool over HTTP, with the key that may do everything unless `options.key` says otherwise. */
  tool: ToolClient;
  /** Issues a key; what isn't given is wide open. Returns its token. */
  createKey(key?: Partial<NewApiKey>): Promise<string>;
  /** Runs the sweep worker, as if it were `aheadS` seconds later. Nothing else runs it in tests. */
  sweep(aheadS?: number): Promise<void>;
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
  const name = `test-${randomBytes(8).toString("hex")}`;
  const system = await startSystem({
    port: 0,
    dynamodbEndpoint: inject("dynamodbEndpoint"),
    fauxqsEndpoint: inject("fauxqsEndpoint"),
    tableName: name,
    queueName: `${name}.fifo`,
    bucketName: name,
    sweepEveryMs: 0,
    env: { RETRY_BASE_MS: "20", POWERTOOLS_LOG_LEVEL: "SILENT", ...env },
    ...(functions && { functions }),
  });
  const agents: WebhookAgent[] = [];
  return {
    ...system,
    tool: toolClient(system.url, system.key),
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

async function createKey(key: Partial<NewApiKey> = {}): Promise<string> {
  // Loaded only now, when the system has set the environment.
  const { createApiKey, formatToken } = await import("../functions/_table/api_keys.ts");
  const id = randomBytes(6).toString("hex");
  const full = {
    workspace: "local",
    id,
    scopes: [...permissions],
    agents: ["*"],
    repositories: ["*"],
    actor: "test",
    ...key,
  };
  const secret = newSecret();
  if (!(await createApiKey(full, secret, Date.now()))) throw new Error(`There is a key ${full.id} already.`);
  return formatToken({ workspace: full.workspace, id: full.id, secret });
}
