import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  edgeUntil,
  formatEdge,
  reachable,
  ringOf,
  type WaitEdge,
  type WaitEdges,
} from "../../functions/_table/wait_edges.ts";

const now = 1_800_000_000_000;

/** `[a, b, until]`: a waits for b. */
type Wait = readonly [sender: string, receiver: string, until: number];

function edges(waits: readonly Wait[]): WaitEdges {
  const bySender = Map.groupBy(waits, ([sender]) => sender);
  const stored = ([, receiver, until]: Wait, index: number) => formatEdge({ receiver, until, random: `r${index}` });
  return new Map([...bySender].map(([sender, its]) => [sender, new Set(its.map(stored))]));
}

/** The ring that a call would close, as `reserveCall` looks for it; undefined when it would close none. */
function ringFor(waits: readonly Wait[], sender: string, receiver: string): string[] | undefined {
  const cameFrom = reachable(edges(waits), receiver, now);
  return cameFrom.has(sender) ? ringOf(cameFrom, sender) : undefined;
}

const inForce = (waits: readonly Wait[]) => waits.filter(([, , until]) => until > now);

/** Whether `from` waits for `to`, by repeated squaring of the whole relation: another way than the code's own. */
function waitsFor(waits: readonly Wait[], from: string, to: string): boolean {
  const pairs = new Set(waits.map(([a, b]) => `${a}>${b}`));
  for (let before = -1; before !== pairs.size; ) {
    before = pairs.size;
    for (const left of [...pairs])
      for (const right of [...pairs]) {
        const [[a, b], [c, d]] = [left.split(">"), right.split(">")];
        if (b === c) pairs.add(`${a}>${d}`);
      }
  }
  return pairs.has(`${from}>${to}`);
}

const agent = fc.constantFrom("a", "b", "c", "d", "e", "f");
const wait = fc.tuple(agent, agent, fc.constantFrom(now - 1, now, now + 1, now + 20_000));
const situation = fc.tuple(fc.array(wait, { maxLength: 12 }), agent, agent);

describe("a call", () => {
  test("closes a ring exactly when its receiver waits, through whomever, for its sender", () => {
    fc.assert(
      fc.property(situation, ([waits, sender, receiver]) => {
        const closes = sender === receiver || waitsFor(inForce(waits), receiver, sender);
        expect(ringFor(waits, sender, receiver) !== undefined).toBe(closes);
      }),
      { numRuns: 1_000 },
    );
  });

  test("is told a ring that is there: from the sender to the receiver and back, each step a wait in force, nobody twice", () => {
    fc.assert(
      fc.property(situation, ([waits, sender, receiver]) => {
        const ring = ringFor(waits, sender, receiver);
        fc.pre(ring !== undefined);
        const steps = ring.slice(1).map((to, index) => [ring[index], to]);
        expect([ring[0], ring[1], ring.at(-1)]).toEqual([sender, receiver, sender]);
        // The first step is the call itself.
        for (const [from, to] of steps.slice(1))
          expect(inForce(waits).some(([a, b]) => a === from && b === to)).toBe(true);
        expect(new Set(ring).size).toBe(ring.length - 1);
      }),
      { numRuns: 1_000 },
    );
  });

  test("reads the waits of exactly those whom its receiver waits for: what others do can't change its answer", () => {
    fc.assert(
      fc.property(situation, ([waits, sender, receiver]) => {
        const read = [...reachable(edges(waits), receiver, now).keys()];
        const ofThose = waits.filter(([from]) => read.includes(from));
        expect(ringFor(ofThose, sender, receiver)).toEqual(ringFor(waits, sender, receiver));
        const others = ["a", "b", "c", "d", "e", "f"].filter((name) => !read.includes(name));
        for (const other of others) expect(waitsFor(inForce(waits), receiver, other)).toBe(false);
      }),
      { numRuns: 500 },
    );
  });

  test("of a hundred agents in a row is found to close the ring", () => {
    const names = Array.from({ length: 100 }, (_, index) => `agent${index}`);
    const waits = names.slice(1).map((name, index) => [names[index] ?? "", name, now + 1] as const);
    expect(ringFor(waits, "agent99", "agent0")).toEqual(["agent99", ...names]);
    expect(ringFor(waits, "agent0", "agent99")).toBeUndefined();
  });
});

describe("an edge", () => {
  test("keeps its end and its receiver, whatever the case in which the receiver was written", () => {
    const edge: WaitEdge = { receiver: "Writer", until: now + 1, random: "0123456789ab" };
    expect(formatEdge(edge)).toBe(`${now + 1}#writer#0123456789ab`);
    expect(edgeUntil(formatEdge(edge))).toBe(now + 1);
    expect([...reachable(new Map([["a", new Set([formatEdge(edge)])]]), "a", now).keys()]).toEqual(["a", "writer"]);
  });

  test("is over at its end, to the millisecond", () => {
    const at = (until: number) => [...reachable(edges([["a", "b", until]]), "a", now).keys()];
    expect(at(now)).toEqual(["a"]);
    expect(at(now + 1)).toEqual(["a", "b"]);
  });

  test("of two parallel waits for the same agent stays when the other goes", () => {
    const both = edges([
      ["a", "b", now + 1],
      ["a", "b", now + 1],
    ]);
    expect(both.get("a")?.size).toBe(2);
  });
});
