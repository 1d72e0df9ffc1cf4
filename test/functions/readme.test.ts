import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Manifest, manifests, root } from "./manifest_reader.ts";

/** `call_agent` in backquotes, once or more. */
const quoted = (cell = "") => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name);

test("the README's table of tools says of each what its manifest says", () => {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const [section = ""] = readme.slice(readme.indexOf("\n## Tools\n")).split("\n### ");
  const rows = section.split("\n").filter((line) => line.startsWith("| `"));
  const told = rows.flatMap((row) => {
    const [, names, permissions, , risk = ""] = row.split("|");
    const facts = { permissions: quoted(permissions), riskLevel: risk.trim(), isForOperators: names?.includes("*") };
    return quoted(names).map((name) => ({ name, ...facts }));
  });

  const known = new Map(manifests.map((manifest) => [manifest.name, manifest]));
  expect(told.length).toBeGreaterThan(0);
  for (const { name, ...facts } of told) {
    const { permissions, riskLevel, audience } = known.get(String(name)) ?? ({} as Partial<Manifest>);
    expect(facts, name).toEqual({ permissions, riskLevel, isForOperators: audience === "operator" });
  }
});
