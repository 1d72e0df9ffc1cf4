/** Waits until everything has ended, well or badly, but at most `graceMs`. */
export async function settled(running: Iterable<Promise<unknown>>, graceMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const grace = new Promise((resolve) => {
    timer = setTimeout(resolve, graceMs);
  });
  await Promise.race([Promise.allSettled(running), grace]);
  clearTimeout(timer);
}
