import * as z from "zod";

/** The settings of the deployed system. This is the only file that reads `process.env`. */
const settings = z.object({
  TABLE_NAME: z.string().min(1),
  MESSAGES_QUEUE_URL: z.url(),
  /** The bucket that holds the repositories' snapshots. */
  REPOSITORIES_BUCKET: z.string().min(1),
  /** What precedes a tool's name in the name of its Lambda. */
  FUNCTION_PREFIX: z.string().default(""),
  /** Group of EventBridge Scheduler that holds the schedules' triggers. */
  SCHEDULE_GROUP: z.string().min(1).default("switchboard"),
  /** ARNs of what a trigger invokes, of the role that it does so by, and of the queue for what it can't deliver. */
  SCHEDULE_TARGET_ARN: z.string().optional(),
  SCHEDULE_ROLE_ARN: z.string().optional(),
  SCHEDULE_DEAD_LETTERS_ARN: z.string().optional(),
  /** Secrets Manager id of the root secret that webhook secrets are derived from. */
  ROOT_SECRET_ID: z.string().min(1),
  /** `public`: HTTPS on port 443 at public addresses only. `any`: HTTP and private addresses too. */
  WEBHOOK_TARGETS: z.enum(["public", "any"]).default("public"),
  /** Web pages that may call `/mcp`: origins, separated by commas; `*` is all. */
  ALLOWED_ORIGINS: z
    .string()
    .default("")
    .transform((origins) => origins.split(",").filter(Boolean)),
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
  /** How long audit events are kept. */
  AUDIT_RETENTION_DAYS: z.coerce.number().int().min(1).default(365),
  /** Tools that a person must approve, beside those whose contract says so; separated by commas. */
  APPROVAL_TOOLS: z
    .string()
    .default("")
    .transform((names) =>
      names
        .split(",")
        .map((name) => name.trim())
        .filter((name) => name !== ""),
    )
    .refine((names) => !names.includes("decide_approval"), "a decision can't itself wait for one"),
  /** How long a request waits for a decision. */
  APPROVAL_HOURS: z.coerce.number().min(0.01).max(720).default(24),
  /** SNS topic that hears of requests that wait for a decision; absent: nobody is told. */
  APPROVALS_TOPIC_ARN: z.string().min(1).optional(),
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
