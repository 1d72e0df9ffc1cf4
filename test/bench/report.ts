import { type Cost, sqsRequestsOf, usedFor } from "./account.ts";
import { type Budget, isKept } from "./budgets.ts";
import type { BundleFigure } from "./bundles.ts";
import { costs, roundTripCosts } from "./costs.ts";
import type { Figure } from "./figure.ts";
import type { GrowthFigure } from "./growth.ts";
import type { UseCost } from "./ledger_system.ts";
import type { LoadFigures } from "./load.ts";
import type { PeerFigure } from "./peers/measure.ts";
import { dollarsPerMillion, prices } from "./prices.ts";
import type { SessionFigures } from "./sessions.ts";
import type { Summary } from "./statistics.ts";

/** Rows below a heading, in columns; numbers to the right. */
function table(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [heading, ...rows];
  const widths = heading.map((_, column) => Math.max(...all.map((row) => (row[column] ?? "").length)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join("  ");
  return all.map(line).join("\n");
}

const ms = (time: number) => time.toFixed(time < 100 ? 1 : 0);
const spread = ({ p50, p99, iqr, n }: Summary) => [ms(p50), ms(p99), ms(iqr), String(n)];
const spreadNames = ["p50 ms", "p99 ms", "iqr", "n"];

/** `GetItem 3, Query 2` */
const listed = (counts: Record<string, number>) =>
  Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(", ");

export function figuresTable(figures: readonly Figure[]): string {
  const rows = figures.flatMap(({ name, ours, floor, ratio, critical, sequence, criticalSequence }) => [
    [name, ...spread(ours), ratio.toFixed(2)],
    [`  floor: ${sequence.length} operations`, ...spread(floor), ""],
    [`  of them one after another: ${criticalSequence.length}`, ...spread(critical), ""],
  ]);
  return table(["", ...spreadNames, "ours/floor"], rows);
}

export function costTable(uses: readonly UseCost[]): string {
  const rows = uses.map(({ name, cost, waitingReadUnits, used }) => {
    const dollars = dollarsPerMillion(used);
    return [
      name,
      String(cost.write),
      String(cost.read),
      String(waitingReadUnits),
      String(requestsToTable(cost)),
      String(sqsRequestsOf(cost)),
      String(used.lambdaInvocations),
      (dollars.sum - dollars.lambdaTime).toFixed(2),
      dollars.lambdaTime.toFixed(2),
    ];
  });
  const heading = [
    "",
    "write u",
    "read u",
    "+ waiting",
    "table req",
    "SQS req",
    "Lambda",
    "$/million",
    "+ Lambda time",
  ];
  return `${table(heading, rows)}\nList prices of ${prices.region} as of ${prices.asOf}; Lambda time as it was on this machine.`;
}

/** For the README: what matters most, by what is stated in `costs.ts`. Its test says when the README is stale. */
export function readmeCosts(): string {
  const rows = Object.entries(roundTripCosts).map(([name, cost]) => costRow(name, cost));
  const shown = Object.entries(costs).flatMap(([tool, ofTool]) =>
    Object.entries(ofTool).map(([name, cost]) => costRow(`\`${tool}\`, ${name}`, cost)),
  );
  const heading = ["| use | write units | read units | SQS requests | $ a million |", "|---|---|---|---|---|"];
  return [...heading, ...rows, ...shown].join("\n");
}

const costRow = (name: string, cost: Cost) =>
  `| ${[name, cost.write, cost.read, sqsRequestsOf(cost), dollarsPerMillion(usedFor(cost)).sum.toFixed(2)].join(" | ")} |`;

const requestsToTable = (cost: Cost) =>
  Object.values(cost.requests).reduce((sum, count) => sum + count, 0) - sqsRequestsOf(cost);

export function growthTable(figures: readonly GrowthFigure[]): string {
  const rows = figures
    .toSorted((a, b) => a.tool.localeCompare(b.tool) || a.items - b.items)
    .map(({ tool, items, cost, time }) => [
      `${tool}, ${items.toLocaleString("en")} behind it`,
      String(cost.write),
      String(cost.read),
      ...spread(time),
    ]);
  return table(["", "write u", "read u", ...spreadNames], rows);
}

export function sessionsTable({ first100, last100, parallel }: SessionFigures): string {
  const rows = [
    ["a session's first 100 calls", ...spread(first100)],
    ["its last 100 of 500", ...spread(last100)],
    [`${parallel.calls} calls at once in one session`, ...spread(parallel.times)],
  ];
  return `${table(["", ...spreadNames], rows)}\n${parallel.accepted} of ${parallel.calls} calls at once were accepted, all in ${ms(parallel.ms)} ms.`;
}

export function loadTable(figures: LoadFigures): string {
  const { calls, lost, doubled, outOfOrder, unavailable, toldAgain, repeated, alone, beside } = figures;
  const rows = [
    ["healthy agents, nobody failing", ...spread(alone)],
    ["healthy agents, a tenth failing or hanging", ...spread(beside)],
  ];
  return [
    table(["", ...spreadNames], rows),
    `Of ${calls} calls ${lost} lost, ${doubled} doubled, ${outOfOrder} out of order.`,
    `${unavailable} requests were answered 503 and made again; the answer to ${toldAgain} of these told what a message told too.`,
    `${repeated} deliveries were repeated, by the same webhook-id, before their answer was stored.`,
  ].join("\n");
}

export function peersTable(figures: readonly PeerFigure[]): string {
  const rows = figures.map(({ name, time }) => [name, ...spread(time)]);
  const promises = figures.map(({ name, promises }) => `${name}: ${promises}.`);
  return [table(["", ...spreadNames], rows), "", ...promises].join("\n");
}

export function budgetsTable(all: readonly Budget[]): string {
  const number = (value: number) => String(Number(value.toFixed(2)));
  return table(
    ["", "at most", "is", ""],
    all.map((budget) => [budget.what, number(budget.most), number(budget.is), isKept(budget) ? "kept" : "MISSED"]),
  );
}

export function bundleTable(figures: readonly BundleFigure[]): string {
  const rows = figures.map(({ name, kb, floorKb, importMs, floorMs }) => [
    name,
    kb.toFixed(0),
    floorKb.toFixed(0),
    (kb / floorKb).toFixed(2),
    importMs.toFixed(0),
    floorMs.toFixed(0),
    (importMs / floorMs).toFixed(2),
  ]);
  return table(["", "KB", "floor", "ratio", "import CPU ms", "floor", "ratio"], rows);
}

export const operationsOf = ({ name, sequence, criticalSequence }: Figure) =>
  `${name}: ${listed(countEach(sequence))}\n  one after another: ${criticalSequence.join(" → ")}`;

function countEach(names: readonly string[]): Record<string, number> {
  const groups = [...Map.groupBy(names, (name) => name)];
  return Object.fromEntries(groups.map(([name, all]) => [name, all.length]));
}
