import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { bundleFigures } from "../bench/bundles.ts";
import { bundleTable } from "../bench/report.ts";

vi.setConfig({ testTimeout: 600_000, hookTimeout: 60_000 });

/** A tool's budget, as a multiple of its floor. */
const budget = 1.25;

test("each artefact, alone in an empty folder, loads in plain Node and exports its handler; tools stay near their floor", () => {
  const rows = bundleFigures();
  console.log(bundleTable(rows));
  for (const { artefact } of rows) {
    expect(JSON.parse(readFileSync(join(artefact, "index.mjs.map"), "utf8")).sourcesContent).toBeUndefined();
  }
  expect(rows.filter(({ exports }) => exports !== "function")).toEqual([]);
  const over = rows.filter(({ isTool, kb, floorKb }) => isTool && kb > budget * floorKb);
  expect(over.map(({ name }) => name)).toEqual([]);
  // A tripwire: over all tools it is 1.15 to 1.25, and off by more than that on a busy machine.
  const total = (of: "importMs" | "floorMs") =>
    rows.filter(({ isTool }) => isTool).reduce((sum, row) => sum + row[of], 0);
  expect(total("importMs") / total("floorMs")).toBeLessThan(1.5);
});
