import type { Floor } from "./floor.ts";
import { inTurns, type Summary, summary } from "./statistics.ts";

/** Something that was measured, beside the least that it could be. */
export interface Figure {
  name: string;
  ours: Summary;
  floor: Summary;
  /** Ours over the floor, by medians. */
  ratio: number;
  /** Of the floor's operations, those that can't be done at once, and how long they take. */
  critical: Summary;
  /** The floor's operations, and those of them on the critical path. */
  sequence: string[];
  criticalSequence: string[];
}

/** Takes ours and its floor in turns. */
export async function measure(
  name: string,
  rounds: number,
  ours: () => Promise<unknown>,
  floor: Floor,
): Promise<Figure> {
  const critical: number[] = [];
  const times = await inTurns(rounds, {
    ours,
    floor: async () => critical.push(await floor.run()),
  });
  const [of, under] = [summary(times.ours), summary(times.floor)];
  return {
    name,
    ours: of,
    floor: under,
    ratio: of.p50 / under.p50,
    critical: summary(critical.slice(-rounds)),
    sequence: floor.sequence,
    criticalSequence: floor.critical,
  };
}
