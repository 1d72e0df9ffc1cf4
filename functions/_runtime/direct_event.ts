import * as z from "zod";

/**
 * How our own parts run a tool for somebody who is not there: an approval that was given, a schedule that is due.
 * It names its principal by the key's id and carries no secret, so it is taken only from a direct Lambda
 * invocation, which only our own roles may make; an HTTP API's event can never have this shape.
 */
const directEvent = z.strictObject({
  direct: z.strictObject({
    via: z.enum(["approval", "schedule"]),
    /** Of the approval or schedule; the audit trail names it. */
    id: z.string().min(1),
    /** The schedule whose run was held back for the approval. */
    scheduleId: z.string().optional(),
    workspace: z.string().min(1),
    /** The key that asked for this; it must still be in force and may do no more than it may now. */
    keyId: z.string().min(1),
    /** The contract's version by which the input was read; refused when it is another by now. Absent: any. */
    version: z.string().optional(),
    /** The speaking agent's role when this was asked for; refused when it is another by now. Absent: any. */
    role: z.string().optional(),
    requestId: z.string().min(1),
    idempotencyKey: z.string().min(1),
    input: z.record(z.string(), z.unknown()),
  }),
});
export type DirectEvent = z.output<typeof directEvent>;

/** The direct event that this is; undefined when it is something else, which is then read as an HTTP API event. */
export const parseDirectEvent = (event: unknown): DirectEvent | undefined => directEvent.safeParse(event).data;
