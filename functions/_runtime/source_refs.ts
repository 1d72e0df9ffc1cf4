/*
 * References to records, as answers carry them in `source_ref`: where returned content is from (seed 002, `sourceRef`).
 */

export const callRef = (callId: string) => `switchboard://calls/${callId}`;
export const taskRef = (taskId: string) => `switchboard://tasks/${taskId}`;
export const assignmentRef = (assignmentId: string) => `switchboard://assignments/${assignmentId}`;
export const approvalRef = (approvalId: string) => `switchboard://approvals/${approvalId}`;
