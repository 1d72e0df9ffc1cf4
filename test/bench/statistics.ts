/** Of some times, in ms. */
export interface Summary {
  n: number;
  p50: number;
  p99: number;
  /** Between the first and the third quartile: how far the middle half spreads. */
  iqr: number;
}

export function summary(times: readonly number[]): Summary {
  const sorted = times.toSorted((a, b) => a - b);
  return {
    n: sorted.length,
    p50: quantile(sorted, 0.5),
    p99: quantile(sorted, 0.99),
    iqr: quantile(sorted, 0.75) - quantile(sorted, 0.25),
  };
}

/** By linear interpolation between the two nearest ranks. */
function quantile(sorted: readonly number[], share: number): number {
  const at = (sorted.length - 1) * share;
  const below = sorted[Math.floor(at)] ?? Number.NaN;
  const above = sorted[Math.ceil(at)] ?? Number.NaN;
  return below + (above - below) * (at - Math.floor(at));
}

/** How long some work takes, in ms. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/**
 * Runs pieces of work in turns (A, B, A, B, …), so that a busy moment of the machine meets them alike.
 * @param rounds that count; a tenth as many, at least three, go before them to warm up
 * @returns the times of each, in ms
 */
export async function inTurns<const Name extends string>(
  rounds: number,
  works: Record<Name, () => Promise<unknown>>,
): Promise<Record<Name, number[]>> {
  const names = Object.keys(works) as Name[];
  const times = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  const warmUp = Math.max(3, Math.ceil(rounds / 10));
  for (let round = -warmUp; round < rounds; round++) {
    for (const name of names) {
      const took = await timed(works[name]);
      if (round >= 0) times[name].push(took);
    }
  }
  return times;
}
