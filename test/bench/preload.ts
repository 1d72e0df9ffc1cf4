/*
 * Loaded into a system before it starts, and idle until the bench asks it to record: while times are taken, nothing
 * of it runs.
 */
import { type Operation, pack, recordOperations } from "./operations.ts";

let recorded: Operation[] = [];
let stop: (() => void) | undefined;

process.on("message", async (order: { record: boolean }) => {
  stop?.();
  if (order.record) {
    recorded = [];
    stop = await recordOperations((operation) => recorded.push(operation));
  }
  process.send?.({ recorded: pack(recorded) });
});
