/*
 * Takes the figures of the README again: `npm run bench`. Counts come from a system in this process, times from one
 * in a process of its own, started as `npm start` starts it, with the callers and the agents in this one.
 */
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { budgets, type Results } from "./budgets.ts";
import { bundleFigures } from "./bundles.ts";
import { assignmentFigures, roundTripFigures, statusFigure } from "./figures.ts";
import { Engines } from "./floor.ts";
import { startLedgerSystem } from "./ledger_system.ts";
import { loadFigures } from "./load.ts";
import { measurePeers } from "./peers/measure.ts";
import {
  budgetsTable,
  bundleTable,
  costTable,
  figuresTable,
  growthTable,
  loadTable,
  operationsOf,
  peersTable,
  sessionsTable,
} from "./report.ts";
import { sessionFigures } from "./sessions.ts";
import { startTarget, type Target } from "./target.ts";

const parts = ["costs", "growth", "times", "sessions", "load", "bundles"] as const;
type Part = (typeof parts)[number] | "peers";

const usage = `Usage: npm run bench [-- options]

Measures Switchboard on this machine, each figure beside its floor.

  --only A,B     only these parts: ${parts.join(", ")}
  --rounds N     how often each time is taken (200)
  --sessions N   how many send five calls each at once, in "load" (200)
  --growth N     most items of history (100000); costs stay the same and times flat up to there
  --peers        beside the A2A SDK and BullMQ too, which it installs below .cache the first time
  --json         the figures as JSON
  --help
`;

function readArguments() {
  const { values } = parseArgs({
    options: {
      only: { type: "string" },
      rounds: { type: "string", default: "200" },
      sessions: { type: "string", default: "200" },
      growth: { type: "string", default: "100000" },
      peers: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  const asked: readonly string[] = values.only?.split(",") ?? (values.peers ? [] : parts);
  const unknown = asked.find((part) => !parts.some((known) => known === part));
  if (unknown !== undefined) throw new Error(`There is no part "${unknown}".\n\n${usage}`);
  const wanted = new Set<string>([...asked, ...(values.peers ? ["peers"] : [])]);
  return {
    ...values,
    rounds: readCount("--rounds", values.rounds),
    sessions: readCount("--sessions", values.sessions),
    growth: readCount("--growth", values.growth),
    wants: (part: Part) => wanted.has(part),
  };
}

function readCount(name: string, text: string): number {
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  throw new Error(`${name} must be a whole number, at least 1, not "${text}".`);
}

type Options = ReturnType<typeof readArguments>;

/** Prints a part as soon as it is there, for people; with --json everything at the end. */
class Report {
  readonly results: Results = {};
  readonly #json: boolean;

  constructor(json: boolean) {
    this.#json = json;
  }

  add<Part extends keyof Results>(
    part: Part,
    title: string,
    figures: NonNullable<Results[Part]>,
    inWords: (figures: NonNullable<Results[Part]>) => string,
  ): void {
    this.results[part] = figures;
    if (!this.#json) console.log(`\n${title}\n\n${inWords(figures)}`);
  }

  end(): void {
    const kept = budgets(this.results);
    if (kept.length > 0) this.add("budgets", "Budgets", kept, budgetsTable);
    if (this.#json) console.log(JSON.stringify(this.results, undefined, 2));
  }
}

/** Sizes of history: 10, 1,000, 100,000, as far as asked for. */
const sizesUpTo = (most: number) => [...new Set([10, 1_000, 100_000].map((size) => Math.min(size, most)))];

async function count(options: Options, report: Report): Promise<void> {
  if (!options.wants("costs") && !options.wants("growth")) return;
  const system = await startLedgerSystem();
  try {
    if (options.wants("costs")) report.add("costs", "What each use costs", await system.useCosts(), costTable);
    if (!options.wants("growth")) return;
    const rounds = Math.ceil(options.rounds / 4);
    report.add("growth", "With history behind it", await system.growth(sizesUpTo(options.growth), rounds), growthTable);
  } finally {
    await system.stop();
  }
}

async function times(options: Options, report: Report): Promise<void> {
  const { rounds, sessions, wants } = options;
  if (!wants("times") && !wants("sessions") && !wants("load")) return;
  const target = await startTarget();
  try {
    if (wants("times")) await timesBesideFloors(target, rounds, report);
    if (wants("sessions")) report.add("sessions", "Sessions", await sessionFigures(target), sessionsTable);
    // Last, since failing agents are still tried for a while after it.
    if (!wants("load")) return;
    const title = `${sessions} sessions × 5 calls at once`;
    report.add("load", title, await loadFigures(target, sessions), loadTable);
  } finally {
    await target.stop();
  }
}

async function timesBesideFloors(target: Target, rounds: number, report: Report): Promise<void> {
  const engines = await Engines.of(target.env);
  try {
    const bench = { target, engines, rounds };
    const figures = [
      ...(await roundTripFigures(bench)),
      await statusFigure(bench),
      ...(await assignmentFigures(bench)),
    ];
    report.add("times", "Times beside their floors, taken in turns", figures, (all) =>
      [figuresTable(all), ...all.map(operationsOf)].join("\n\n"),
    );
  } finally {
    engines.stop();
  }
}

async function main(): Promise<void> {
  const options = readArguments();
  if (options.help) return void console.log(usage);
  const report = new Report(options.json);
  const [cpu] = cpus();
  const machine = { node: process.version, cpu: cpu?.model ?? "", cores: cpus().length, at: new Date().toISOString() };
  report.add("machine", "Machine", machine, (m) => `${m.cores} × ${m.cpu}, Node ${m.node}, ${m.at}`);
  await count(options, report);
  await times(options, report);
  if (options.wants("peers"))
    report.add("peers", "Beside others, in turns", await measurePeers(options.rounds), peersTable);
  if (options.wants("bundles")) report.add("bundles", "Bundles", bundleFigures(), bundleTable);
  report.end();
}

main().catch((error: Error) => {
  console.error(error.message);
  process.exitCode = 1;
});
