import { env } from "./env.ts";

/**
 * The metrics that only our code knows, each with its one dimension beside the stage, or none. Few values each: CloudWatch
 * bills every combination that occurs.
 */
interface Metrics {
  /** What tools answered: `ok`, `pending` (202), `held` (for an approval), `refused` (4xx) or `failed` (5xx). */
  Answers: "Outcome";
  /** How messages ended, by their closed status. */
  MessagesEnded: "Status";
  /** What came of delivery attempts. */
  Deliveries: "Result";
  /** Audit events that went to the log only. */
  AuditEventsLost: undefined;
}

/**
 * Counts one event, as a line in CloudWatch's embedded metric format; nothing where METRICS_NAMESPACE is not set.
 * Straight to stdout, since Lambda wraps what `console` prints in JSON of its own, and CloudWatch would no longer
 * see the format.
 */
export function count<M extends keyof Metrics>(
  metric: M,
  ...[dimension, value]: Metrics[M] extends string ? [dimension: Metrics[M], value: string] : []
): void {
  const { METRICS_NAMESPACE: Namespace, STAGE: Stage } = env();
  if (Namespace === undefined) return;
  const own = dimension === undefined ? {} : { [dimension]: value };
  const directive = {
    Namespace,
    Dimensions: [["Stage", ...Object.keys(own)]],
    Metrics: [{ Name: metric, Unit: "Count" }],
  };
  const line = { _aws: { Timestamp: Date.now(), CloudWatchMetrics: [directive] }, Stage, ...own, [metric]: 1 };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
