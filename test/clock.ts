import { onTestFinished, vi } from "vitest";

/** Moves this process's clock, and with it the system's, which ticks on from there until the test has ended. */
export function moveClock(ms: number): void {
  if (!vi.isFakeTimers()) {
    vi.useFakeTimers({ toFake: ["Date"], shouldAdvanceTime: true });
    onTestFinished(() => void vi.useRealTimers());
  }
  vi.setSystemTime(Date.now() + ms);
}
