import fc from "fast-check";

/** `MODEL_MS` gives a hunt for rare faults more time. */
const timeLimitMs = Number(process.env.MODEL_MS ?? 40_000);

/**
 * Runs a property with ever new values until the time is up, but often enough on a slow machine as well. On a
 * failure fast-check prints the seed and the path that replay it: put both into `parameters`.
 */
export async function runFor<T>(
  values: fc.Arbitrary<T>,
  atLeast: number,
  run: (value: T) => Promise<void>,
  parameters: fc.Parameters<[T]> = {},
): Promise<number> {
  let runs = 0;
  let latest: Promise<void> = Promise.resolve();
  const property = fc.asyncProperty(values, (value) => {
    latest = run(value);
    return latest.then(() => void runs++);
  });
  const limit = { interruptAfterTimeLimit: timeLimitMs, markInterruptAsFailure: false };
  await fc.assert(property, { ...parameters, numRuns: 100_000, ...limit });
  await latest; // The one that was under way when the time was up.
  if (runs < atLeast) await fc.assert(property, { ...parameters, numRuns: atLeast - runs });
  return runs;
}
