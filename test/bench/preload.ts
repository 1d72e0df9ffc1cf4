/*
 * Loaded into a system before it starts, and idle until the bench asks it to record: while times are taken, nothing
 * of it runs.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { type Entry, pack, recordOperations } from "./operations.ts";

/** Node says here when it has taken a request, just before the system's server hears of it. */
const requests = "http.server.request.start";
const asking = new AsyncLocalStorage<string>();
let number = 0;
const beginRequest = () => asking.enterWith(`request ${++number}`);

let recorded: Entry[] = [];
let stop = () => {};

process.on("message", async (order: { record: boolean }) => {
  stop();
  if (order.record) await begin();
  process.send?.({ recorded: pack(recorded) });
});

// The system has a process group of its own, so that it would outlive a bench that was interrupted.
process.on("disconnect", () => process.kill(process.pid, "SIGTERM"));

async function begin(): Promise<void> {
  recorded = [];
  subscribe(requests, beginRequest);
  // What no request asks for is a delivery's: the poller runs them, one at a time as long as one call is recorded.
  const stopRecording = await recordOperations((operation) =>
    recorded.push({ ...operation, by: asking.getStore() ?? "deliver" }),
  );
  stop = () => {
    stopRecording();
    unsubscribe(requests, beginRequest);
    stop = () => {};
  };
}
