import { contracts } from "../../functions/tools.ts";
import type { Account, Invocation } from "./ledger.ts";
import { withoutWaiting } from "./operations.ts";
import type { Used } from "./prices.ts";

/** Units and requests of some work, without those of waiting: what is exact, and the same each time. */
export interface Cost {
  /** Runs of tools. */
  tools: number;
  /** How many of them another function started, with no request to the API. */
  direct: number;
  read: number;
  write: number;
  /** By command, SQS's included. */
  requests: Record<string, number>;
}

/**
 * Adds up an account. The queue's receive and delete are the event source mapping's, which takes each wake-up on
 * its own; the functions only send.
 */
export function costOf({ entries, invocations }: Account): Cost {
  const operations = withoutWaiting(entries);
  const delivered = invocations.filter(({ name }) => name === "deliver").length;
  const commands: string[] = operations.map(({ command }) => command);
  for (let n = 0; n < delivered; n++) commands.push("ReceiveMessage", "DeleteMessage");
  return {
    tools: invocations.filter(({ name }) => isTool(name)).length,
    direct: invocations.filter(({ isDirect }) => isDirect).length,
    read: sum(operations, ({ readUnits }) => readUnits),
    write: sum(operations, ({ writeUnits }) => writeUnits),
    requests: countEach(commands),
  };
}

function countEach(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names.toSorted()) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

export const sum = <T>(parts: readonly T[], of: (part: T) => number) =>
  parts.reduce((total, part) => total + of(part), 0);

const isOfQueue = (command: string) => /Message/.test(command);

export const sqsRequestsOf = ({ requests }: Cost) =>
  sum(Object.entries(requests), ([command, count]) => (isOfQueue(command) ? count : 0));

/** Read units that went into waiting: looks that found nothing yet. */
export const waitingUnits = ({ entries }: Account) =>
  sum(entries, ({ readUnits }) => readUnits) - sum(withoutWaiting(entries), ({ readUnits }) => readUnits);

/** What is paid for a cost, but for the time that functions run. */
export function usedFor(cost: Cost): Used {
  return {
    readUnits: cost.read,
    writeUnits: cost.write,
    sqsRequests: sqsRequestsOf(cost),
    apiRequests: cost.tools - cost.direct,
    lambdaInvocations: cost.tools + (cost.requests.ReceiveMessage ?? 0),
    lambdaGbMs: 0,
  };
}

/** What is paid for an account, waiting included. */
export const usedBy = (account: Account): Used => ({
  ...usedFor(costOf(account)),
  readUnits: sum(account.entries, ({ readUnits }) => readUnits),
  lambdaGbMs: sum(account.invocations, (run) => memoryGb(run) * (run.endedAt - run.startedAt)),
});

const isTool = (name: string) => contracts.some((contract) => contract.name === name);

/** As `infra/` deploys them: what waits gets little memory, since it is billed for the time. */
function memoryGb({ name }: Invocation): number {
  const contract = contracts.find((each) => each.name === name);
  const waits = contract === undefined ? name === "deliver" : contract.defaultWaitS !== undefined;
  return waits ? 0.25 : 0.5;
}
