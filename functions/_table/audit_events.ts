import { PutCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import { dynamodb } from "../_runtime/clients.ts";
import { env } from "../_runtime/env.ts";
import { outcomes } from "../_runtime/states.ts";
import { auditEvent, auditHour } from "./keys.ts";
import { type Item, queryPage, ttl } from "./table.ts";

/** Who did what, when, and what came of it: one invocation of a tool (design, section 8). Never what was said. */
const record = z.object({
  /** ISO 8601, UTC: when it was answered. */
  at: z.string(),
  workspace: z.string(),
  request_id: z.string(),
  key_id: z.string(),
  /** The person or system behind the key. */
  actor: z.string(),
  /** The agent that it was done as; empty when the tool has no speaker, or it could not be told. */
  agent: z.string(),
  tool: z.string(),
  tool_version: z.string(),
  risk_level: z.enum(["low", "medium", "high"]),
  outcome: z.enum(outcomes),
  /** Of the error model; empty when it succeeded. */
  error_type: z.string(),
  http_status: z.number(),
  duration_ms: z.number(),
  /** HMAC-SHA256 of the input, hexadecimal: equal for equal inputs of one key. Empty when there was none to read. */
  input_digest: z.string(),
  via: z.enum(["http", "mcp", "approval", "schedule"]),
  approval_id: z.string(),
  schedule_id: z.string(),
});
export type AuditEvent = z.output<typeof record>;

export const auditItem = (event: AuditEvent): Item => ({
  ...auditEvent(event.workspace, event.at, event.request_id),
  ...event,
  ttl: ttl(Date.parse(event.at)) + env().AUDIT_RETENTION_DAYS * 86_400,
});

/**
 * Stores an event, once for all tries. One plain request that ends with `signal`: a tool must not wait for it.
 * @throws {Error} when it could not be stored
 */
export async function putAuditEvent(event: AuditEvent, signal: AbortSignal): Promise<void> {
  const put = new PutCommand({ TableName: env().TABLE_NAME, Item: auditItem(event) });
  await dynamodb.send(put, { abortSignal: signal });
}

/**
 * Access pattern: a workspace's events of one hour, newest first, one page of what DynamoDB reads at a time.
 * @param range both ends inclusive, as sort keys
 * @param hour `2026-11-30T18`
 */
export async function auditEventsOfHour(
  workspace: string,
  hour: string,
  range: { from: string; to: string },
  limit: number,
  start: Item | undefined,
): Promise<{ events: { event: AuditEvent; place: string }[]; next: Item | undefined }> {
  const page = await queryPage({
    KeyConditionExpression: "PK = :pk AND SK BETWEEN :from AND :to",
    ExpressionAttributeValues: { ":pk": auditHour(workspace, hour), ":from": range.from, ":to": range.to },
    ScanIndexForward: false,
    Limit: limit,
    ...(start && { ExclusiveStartKey: start }),
  });
  const events = (page.Items ?? []).map((item) => ({ event: record.parse(item), place: String(item.SK) }));
  return { events, next: page.LastEvaluatedKey };
}
