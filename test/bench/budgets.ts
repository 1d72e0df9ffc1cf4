import { sqsRequestsOf, sum } from "./account.ts";
import type { BundleFigure } from "./bundles.ts";
import type { Figure } from "./figure.ts";
import type { GrowthFigure } from "./growth.ts";
import type { UseCost } from "./ledger_system.ts";
import type { LoadFigures } from "./load.ts";
import type { PeerFigure } from "./peers/measure.ts";
import type { SessionFigures } from "./sessions.ts";

/** What was measured in one run; a part that was not asked for is absent. */
export interface Results {
  machine?: { node: string; cpu: string; cores: number; at: string };
  costs?: UseCost[];
  growth?: GrowthFigure[];
  times?: Figure[];
  sessions?: SessionFigures;
  load?: LoadFigures;
  peers?: PeerFigure[];
  bundles?: BundleFigure[];
  budgets?: Budget[];
}

/** Something that the design allows at most. */
export interface Budget {
  what: string;
  most: number;
  is: number;
}

export const isKept = ({ is, most }: Budget) => is <= most;

/** The budgets of the design, section 10, as far as `results` tells of them. */
export function budgets({ costs = [], growth, times = [], load, bundles }: Results): Budget[] {
  return [
    ...costs.flatMap(costBudgets),
    ...times
      .filter(({ name }) => name === "call by webhook")
      .map(({ ratio }) => ({ what: "a call's round trip over its floor, by medians", most: 1, is: ratio })),
    ...(growth === undefined ? [] : growthBudgets(growth)),
    ...(load === undefined ? [] : loadBudgets(load)),
    ...(bundles === undefined ? [] : bundleBudgets(bundles.filter(({ isTool }) => isTool))),
  ];
}

function costBudgets({ name, cost }: UseCost): Budget[] {
  const most = { "call and reply, by webhook": 22, "call and reply, by webhook, with an Idempotency-Key": 24 }[name];
  const writes = most === undefined ? [] : [{ what: `write units of ${name}`, most, is: cost.write }];
  if (name === "get_agent_status: 1 todo") {
    const requests = sum(Object.values(cost.requests), (count) => count);
    // The key, one Query, one BatchGet (design, section 10); the audit event came with section 8.
    return [{ what: "requests of get_agent_status, its audit event among them", most: 4, is: requests }];
  }
  if (name !== "call and reply, by webhook") return writes;
  return [
    ...writes,
    { what: `read units of ${name}, without waiting`, most: 10, is: cost.read },
    { what: `SQS requests of ${name}`, most: 3, is: sqsRequestsOf(cost) },
  ];
}

/** Times vary with the machine: flat means that the longest history takes at most half again as long. */
const flat = 1.5;

function growthBudgets(growth: readonly GrowthFigure[]): Budget[] {
  return [...Map.groupBy(growth, ({ tool }) => tool)].flatMap(([tool, figures]) => {
    const [first, last] = [figures[0], figures.at(-1)];
    if (first === undefined || last === undefined) return [];
    const units = ({ cost }: GrowthFigure) => cost.read + cost.write;
    return [
      { what: `units of ${tool} with ${last.items} items behind it`, most: units(first), is: units(last) },
      { what: `time of ${tool} over that with ${first.items}`, most: flat, is: last.time.p50 / first.time.p50 },
    ];
  });
}

const loadBudgets = ({ lost, doubled, outOfOrder, alone, beside }: LoadFigures): Budget[] => [
  { what: "calls lost under load", most: 0, is: lost },
  { what: "calls doubled under load", most: 0, is: doubled },
  { what: "calls out of order under load", most: 0, is: outOfOrder },
  { what: "time beside failing agents over that without", most: flat, is: beside.p50 / alone.p50 },
];

function bundleBudgets(tools: readonly BundleFigure[]): Budget[] {
  const largest = Math.max(...tools.map(({ kb, floorKb }) => kb / floorKb));
  const imports = sum(tools, ({ importMs }) => importMs) / sum(tools, ({ floorMs }) => floorMs);
  return [
    { what: "a tool's bundle over its floor, the largest", most: 1.25, is: largest },
    { what: "cold import of all tools over their floors", most: 1.25, is: imports },
  ];
}
