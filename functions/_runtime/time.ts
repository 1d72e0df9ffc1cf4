import { setTimeout as sleep } from "node:timers/promises";

/** ISO 8601 in UTC, as every time on the wire; empty for none. */
export const iso = (atMs: number | undefined) => (atMs === undefined || atMs === 0 ? "" : new Date(atMs).toISOString());

/** Waits for something in the table are polls: close together at first, since most answers are quick. */
const quickestPollMs = 5;
const slowestPollMs = 500;
/** Nothing that goes through the queue comes about sooner than this. */
const soonMs = 12;

/**
 * Polls until `look` finds something or the instant `until` (ms) is reached; it always looks once.
 * The gaps grow with the time that has passed, so that a long wait costs few reads.
 * @param first when to look first: `soon` for what was begun just now and can't have come about yet
 */
export async function waitFor<T>(
  until: number,
  look: () => Promise<T | undefined>,
  first: "at once" | "soon" = "at once",
): Promise<T | undefined> {
  const start = Date.now();
  if (first === "soon") await sleep(Math.max(0, Math.min(soonMs, until - start)));
  for (;;) {
    const found = await look();
    const now = Date.now();
    if (found !== undefined || now >= until) return found;
    const gap = Math.min(slowestPollMs, Math.max(quickestPollMs, (now - start) / 4));
    await sleep(Math.max(1, Math.min(gap, until - now)));
  }
}
