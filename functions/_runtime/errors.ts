/**
 * The error vocabulary: every failure that a caller can meet has a type, an HTTP status and whether the
 * same request may succeed later. What a type means for one tool, and what to do next, stands in that
 * tool's `errorModel`.
 */
const vocabulary = {
  APPROVAL_REQUIRED: [202, true],
  INVALID_JSON: [400, false],
  INVALID_INPUT: [400, false],
  INVALID_CURSOR: [400, false],
  INVALID_SCHEDULE: [400, false],
  INVALID_PATTERN: [400, false],
  INVALID_RANGE: [400, false],
  RANGE_TOO_LARGE: [400, false],
  WEBHOOK_REFUSED: [400, false],
  UNAUTHENTICATED: [401, false],
  PERMISSION_DENIED: [403, false],
  IDENTITY_MISMATCH: [403, false],
  APPROVAL_DENIED: [403, false],
  KEY_REVOKED: [403, false],
  MASTER_NOT_CALLABLE: [403, false],
  ORIGIN_NOT_ALLOWED: [403, false],
  NOT_A_LEADER: [403, false],
  SELF_APPROVAL: [403, false],
  TOOL_NOT_FOUND: [404, false],
  AGENT_NOT_FOUND: [404, false],
  APPROVAL_NOT_FOUND: [404, false],
  SENDER_NOT_FOUND: [404, false],
  RECEIVER_NOT_FOUND: [404, false],
  LEADER_NOT_FOUND: [404, false],
  CALL_NOT_FOUND: [404, false],
  MESSAGE_NOT_FOUND: [404, false],
  PROJECT_NOT_FOUND: [404, false],
  ASSIGNMENT_NOT_FOUND: [404, false],
  TASK_NOT_FOUND: [404, false],
  SCHEDULE_NOT_FOUND: [404, false],
  FILE_NOT_FOUND: [404, false],
  METHOD_NOT_ALLOWED: [405, false],
  NOT_ACCEPTABLE: [406, false],
  ALREADY_DECIDED: [409, false],
  CONTRACT_CHANGED: [409, false],
  ROLE_CHANGED: [409, false],
  AGENT_NAME_TAKEN: [409, false],
  AGENT_HAS_MESSAGES: [409, false],
  CALL_CLOSED: [409, false],
  CALL_CYCLE: [409, false],
  CALL_DEPTH: [409, false],
  CURRENT_CONVERSATION: [409, false],
  LEASE_LOST: [409, false],
  NOT_A_NOTICE: [409, false],
  NOT_AN_INBOX_AGENT: [409, false],
  SELF_CALL: [409, false],
  SESSION_BUSY: [409, true],
  SESSION_USER_MISMATCH: [409, false],
  TASK_CLOSED: [409, false],
  SCHEDULE_CLOSED: [409, false],
  APPROVAL_EXPIRED: [410, false],
  CALL_CANCELLED: [410, false],
  CONTENT_TOO_LARGE: [413, false],
  REQUEST_TOO_LARGE: [413, false],
  FILE_NOT_TEXT: [415, false],
  IDEMPOTENCY_MISMATCH: [422, false],
  CALL_BUDGET: [429, false],
  INBOX_FULL: [429, true],
  RATE_LIMITED: [429, true],
  INTERNAL: [500, true],
  /** A tool whose handler is still the stub that `npm run tool` made. */
  NOT_IMPLEMENTED: [501, false],
  CALL_FAILED: [502, false],
  UNAVAILABLE: [503, true],
  CALL_TIMED_OUT: [504, false],
} as const satisfies Record<string, readonly [status: number, retryable: boolean]>;

export type ErrorType = keyof typeof vocabulary;

/** The HTTP status that a type of error is answered with. */
export const statusOf = (type: ErrorType): number => vocabulary[type][0];

/** What every tool may answer beside its own errors; `defineContract` adds these to each `errorModel`. */
export const commonErrors = {
  INVALID_JSON:
    "The body is not one complete JSON object. Send the arguments again, complete and shorter if they were cut.",
  INVALID_INPUT: "A parameter is missing, unknown or has a wrong value. Correct what the message names and call again.",
  REQUEST_TOO_LARGE:
    "The request is larger than 512 KiB. Send less, or put large material in files and name their paths.",
  UNAUTHENTICATED:
    "The API key is missing, unknown, expired or revoked. Send a valid key as 'Authorization: Bearer sb_…'.",
  PERMISSION_DENIED:
    "The API key lacks the permission that this tool needs. Ask the operator for a key with that scope.",
  RATE_LIMITED:
    "This API key has used up its calls for this minute. Wait as long as Retry-After says, then call again.",
  UNAVAILABLE:
    "The service is overloaded or a part of it does not answer. Call again in a few seconds with the same Idempotency-Key.",
  INTERNAL:
    "Something unexpected happened here. Call again with the same Idempotency-Key; if it stays, give the operator the request id.",
} as const satisfies Partial<Record<ErrorType, string>>;

/** What a tool that changes something may answer when a person has to approve it; `defineContract` adds these. */
export const approvalErrors = {
  APPROVAL_REQUIRED:
    "A person must approve this first; it is kept and nothing has been done yet. Repeat the same request with the Idempotency-Key in details later to get its result.",
  APPROVAL_DENIED: "A person has refused this. Do not try it again; tell the user, or ask the operator why.",
  APPROVAL_EXPIRED: "Nobody decided on this in time, so it was not done. Ask again if it is still needed.",
  KEY_REVOKED:
    "The API key that asked for this was revoked before it was approved, so it was not done. Ask again with a valid key.",
  ROLE_CHANGED:
    "The agent that asked for this had another role by the time it was approved, so it was not done. Ask again.",
  CONTRACT_CHANGED:
    "The tool had changed by the time this was approved, so it was not done. Read the tool's definition and ask again.",
} as const satisfies Partial<Record<ErrorType, string>>;

interface Particulars {
  /** The next step, when it is more exact than the errorModel's sentence ("Did you mean coder?"). */
  hint?: string;
  /** Facts for the caller's program, plain JSON. */
  details?: Record<string, unknown>;
  /** Returns of the tool that are known although it failed, for example `call_id`. */
  returns?: Record<string, unknown>;
  /** Seconds after which to try again; becomes the Retry-After header. */
  retryAfterS?: number;
  /** The method that would work here; becomes the Allow header, which a 405 must have (RFC 9110, 15.5.6). */
  allow?: string;
}

/** A failure with a name. Thrown where it is known, turned into an answer once, in `serve()`. */
export class ToolError extends Error {
  override readonly name = "ToolError";
  readonly type: ErrorType;
  readonly particulars: Particulars;

  /** @param message one sentence for people: what is wrong with this request */
  constructor(type: ErrorType, message: string, particulars: Particulars = {}) {
    super(message);
    this.type = type;
    this.particulars = particulars;
  }

  get status(): number {
    return statusOf(this.type);
  }

  get retryable(): boolean {
    return vocabulary[this.type][1];
  }
}
