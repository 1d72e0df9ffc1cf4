import { contracts } from "../../functions/tools.ts";
import type { HttpHandler } from "./gateway.ts";
import type { LambdaHandler } from "./lambda.ts";
import type { QueueHandler } from "./poller.ts";

/** The `sweep` worker: records what is due, as if it were `ahead_s` seconds later. */
type SweepHandler = (event: { ahead_s?: number }) => Promise<void>;

/** The deployed functions, each where its part of the system runs it. */
export interface Functions {
  /** By name. */
  tools: ReadonlyMap<string, HttpHandler>;
  catalog: HttpHandler;
  mcp: HttpHandler;
  deliver: QueueHandler;
  sweep: SweepHandler;
  runSchedule: LambdaHandler;
}

/** Loads every function. Their SDK clients read the environment at load: set it first. */
export async function loadFunctions(): Promise<Functions> {
  const tools = contracts.map(async ({ name }) => [name, await load<HttpHandler>(name)] as const);
  const [byName, catalog, mcp, deliver, sweep, runSchedule] = await Promise.all([
    Promise.all(tools),
    load<HttpHandler>("_workers/catalog"),
    load<HttpHandler>("_workers/mcp"),
    load<QueueHandler>("_workers/deliver"),
    load<SweepHandler>("_workers/sweep"),
    load<LambdaHandler>("_workers/run_schedule"),
  ]);
  return { tools: new Map(byName), catalog, mcp, deliver, sweep, runSchedule };
}

/** The functions behind the HTTP API, by route key; `$default` is the catalog. */
export const routesOf = ({ tools, mcp }: Functions): Map<string, HttpHandler> =>
  new Map([
    ...[...tools].map(([name, handler]): [string, HttpHandler] => [`POST /v1/tools/${name}`, handler]),
    ["POST /mcp", mcp],
  ]);

/** The functions that others invoke, by the names under which they do. */
export const invokedOf = ({ tools, sweep, runSchedule }: Functions): [name: string, LambdaHandler][] => [
  ...tools,
  ["sweep", sweep],
  ["run_schedule", runSchedule],
];

async function load<H>(folder: string): Promise<H> {
  const { href } = new URL(`../../functions/${folder}/handler.ts`, import.meta.url);
  const module: { handler: H } = await import(href);
  return module.handler;
}
