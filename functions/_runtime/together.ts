/**
 * `Promise.all` for work that writes: when a part fails, it waits for the others before it throws. A Lambda
 * freezes with its last answer, so what still runs then would be finished in another invocation, or never.
 */
export async function together<P extends readonly unknown[] | []>(parts: P) {
  await Promise.allSettled(parts);
  return Promise.all(parts);
}
