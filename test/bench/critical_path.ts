interface Interval {
  startedAt: number;
  endedAt: number;
}

/**
 * The chain that took longest of those that lead to `end`, each of its intervals beginning when the one before had
 * ended: what could not have gone faster by doing more at once, as far as the recorded order tells.
 */
export function criticalPath<I extends Interval>(intervals: readonly I[], end: I | undefined): Set<I> {
  const byStart = intervals.toSorted((a, b) => a.startedAt - b.startedAt);
  const chains = new Map<I, { ms: number; before: I | undefined }>();
  for (const interval of byStart) {
    const earlier = byStart.filter(({ endedAt }) => endedAt <= interval.startedAt);
    const before = longest(earlier, chains);
    const ms = (before === undefined ? 0 : (chains.get(before)?.ms ?? 0)) + interval.endedAt - interval.startedAt;
    chains.set(interval, { ms, before });
  }
  const path = new Set<I>();
  for (let at = end; at !== undefined; at = chains.get(at)?.before) path.add(at);
  return path;
}

function longest<I>(intervals: readonly I[], chains: ReadonlyMap<I, { ms: number }>): I | undefined {
  const msOf = (interval: I) => chains.get(interval)?.ms ?? 0;
  return intervals.toSorted((a, b) => msOf(b) - msOf(a))[0];
}
