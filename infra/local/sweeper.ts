/** The `sweep` worker: records what is due, as if it were `ahead_s` seconds later. */
export type SweepHandler = (event: { ahead_s?: number }) => Promise<void>;

/** Reaches over the longest pause before a retry, so that everything undelivered gets its wake-up back. */
const afterStartS = 120;

export interface Sweeper {
  stop(): Promise<void>;
}

/**
 * Stands in for the schedule that runs `sweep`: once now, since the queue starts empty and its wake-ups must
 * come from the table, then at each interval. Runs never overlap; one that fails is logged and tried again.
 */
export function startSweeper(handler: SweepHandler, everyMs: number): Sweeper {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let run = sweep({ ahead_s: afterStartS });

  async function sweep(event: { ahead_s?: number }): Promise<void> {
    try {
      await handler(event);
    } catch (error) {
      console.error("sweeper: sweep failed:", error);
    }
    if (stopped) return;
    timer = setTimeout(() => {
      run = sweep({});
    }, everyMs);
  }

  const stop = async () => {
    stopped = true;
    clearTimeout(timer);
    await run;
  };
  return { stop };
}
