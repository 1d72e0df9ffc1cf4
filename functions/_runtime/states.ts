import * as z from "zod";

/** A master guides and is never called or assigned work, a director leads, a member works. */
export const roles = ["master", "director", "member"] as const;
export const deliveries = ["inbox", "webhook"] as const;
export const messageKinds = ["call", "task", "reply", "report"] as const;

/** `queued → delivered → answered`, or one of the other ends (design, section 2). */
export const callStates = ["queued", "delivered", "answered", "failed", "timed_out", "cancelled"] as const;

/** `assigned → running → done`, or one of the other ends. */
export const taskStates = ["assigned", "running", "done", "failed", "rejected", "cancelled", "timed_out"] as const;

/** A schedule as people see it; `ended` by the clock, when no run is left. */
export const scheduleStates = ["active", "cancelled", "ended"] as const;

/** What a run does while the assignment of the one before is open: not happen, or wait for its end. */
export const overlaps = ["skip", "queue"] as const;

/**
 * What became of one run: its assignment is being made (`starting`) or was made (`started`), no task of it was
 * accepted (`rejected`), it waits for the end of the one before (`queued`) or for an approval (`held`), or it did not
 * happen (`skipped`, `failed`).
 */
export const runOutcomes = ["starting", "started", "rejected", "queued", "held", "skipped", "failed"] as const;

/** One of `states` as a return; empty in an answer that knows none, since a failed answer keeps the tool's shape. */
export const returned = <const S extends readonly string[]>(states: S) => z.enum(["", ...states]).default("");

/** `pending → approved → executed`, or one of the other ends: the tool refused it, a person did, or nobody decided. */
export const approvalStates = ["pending", "approved", "executed", "failed", "denied", "expired"] as const;

/** What came of an invocation: done, not answered yet, held for approval, the caller's fault, or ours. */
export const outcomes = ["ok", "pending", "held", "refused", "failed"] as const;
export type Outcome = (typeof outcomes)[number];
