import * as z from "zod";

/** The settings of the deployed system. This is the only file that reads `process.env`. */
const settings = z.object({
  TABLE_NAME: z.string().min(1),
  MESSAGES_QUEUE_URL: z.url(),
  /** The bucket that holds the repositories' snapshots. */
  REPOSITORIES_BUCKET: z.string().min(1),
  /** What precedes a tool's name in the name of its Lambda. */
  FUNCTION_PREFIX: z.string().default(""),
  /** Secrets Manager id of the root secret that webhook secrets are derived from. */
  ROOT_SECRET_ID: z.string().min(1),
  /** `public`: HTTPS on port 443 at public addresses only. `any`: HTTP and private addresses too. */
  WEBHOOK_TARGETS: z.enum(["public", "any"]).default("public"),
  CALLS_PER_SESSION: z.coerce.number().int().min(1).default(500),
  CALLS_PER_PAIR_MINUTE: z.coerce.number().int().min(1).default(30),
  DELIVERY_ATTEMPTS: z.coerce.number().int().min(1).max(20).default(5),
  /** Wait before the second attempt; each further one doubles it. */
  RETRY_BASE_MS: z.coerce.number().int().min(1).default(2_000),
  /**
   * How long sessions, messages, calls and tasks are kept after their deadline. More than the longest deadline
   * (30 days), so that nothing open outlives its session.
   */
  RETENTION_DAYS: z.coerce.number().int().min(31).default(90),
  /** CloudWatch namespace of our own metrics; absent: none are emitted. */
  METRICS_NAMESPACE: z.string().min(1).optional(),
  /** Tells the metrics of one deployment from another's. */
  STAGE: z.string().default("local"),
});

let parsed: z.output<typeof settings> | undefined;

/** The settings, parsed on first use. @throws {z.ZodError} naming each missing or wrong variable */
export function env(): z.output<typeof settings> {
  parsed ??= settings.parse(process.env);
  return parsed;
}
