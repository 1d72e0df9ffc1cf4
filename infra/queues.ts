/**
 * The longest that SQS has. The time of a FIFO message begins anew when it moves to the dead-letter queue; in a
 * standard queue it runs on from the first send, so that a late failure would be gone at once.
 */
const fourteenDaysS = 14 * 24 * 3600;

/** `deliver` waits up to 120 s for an agent's answer. */
export const deliverTimeoutS = 150;

/** The queues' physical facts, for CDK and for the local engine alike. The first two are FIFO. */
export const queues = {
  messages: {
    /** CloudFormation and emulators take FIFO from the explicit suffix. */
    name: "messages.fifo",
    /** The dedup id names the message: a hash of the body would drop a second, equal wake-up. */
    contentBasedDeduplication: false,
    /** AWS asks for at least six times the function's timeout; shorter, and one wake-up is worked twice at once. */
    visibilityTimeoutS: 6 * deliverTimeoutS,
    retentionS: fourteenDaysS,
    /** Far above attempts plus deferrals, which are counted in the table: only what can't be processed ends here. */
    maxReceiveCount: 1000,
  },
  deadLetters: { name: "messages-dlq.fifo", contentBasedDeduplication: false, retentionS: fourteenDaysS },
  /**
   * Runs of schedules that could not be delivered. Scheduler writes to standard queues only; there a message's time
   * counts from when it was first sent, so it is the longest that SQS has.
   */
  lostRuns: { name: "schedules-dlq", retentionS: fourteenDaysS },
} as const;

/** The dead-letter queue that belongs to a message queue, by name or by URL. */
export const deadLettersOf = (queue: string) => queue.replace(/\.fifo$/, "-dlq.fifo");
