import { randomBytes } from "node:crypto";
import * as z from "zod";
import { approvalStates } from "../_runtime/states.ts";
import { dueRecords } from "./due.ts";
import {
  type ApprovalText,
  approval as approvalKey,
  approvalsDueIndex,
  approvalsPartition,
  approvalText,
  approvalTexts,
  dueRecordSort,
} from "./keys.ts";
import { get, getAll, type Item, putAll, queryPage, queryPrefix, retention, type Write } from "./table.ts";

export type ApprovalState = (typeof approvalStates)[number];

/** A request that a person must decide on, and what became of it. Instants are in ms. */
const record = z.object({
  id: z.string(),
  status: z.enum(approvalStates),
  tool: z.string(),
  tool_version: z.string(),
  risk_level: z.enum(["low", "medium", "high"]),
  side_effect: z.enum(["none", "internal", "external"]),
  /** Whose request it is: it runs as this key and agent. */
  key_id: z.string(),
  actor: z.string(),
  /** The agent that speaks; empty for a tool without a speaker. */
  agent: z.string(),
  /** The agent's role when it asked; empty when it was not registered. */
  role: z.string(),
  /** The schedule whose run it is; empty when somebody asked. */
  schedule_id: z.string().default(""),
  requested_at: z.number(),
  expires_at: z.number(),
  /** When the operators' topic was told. */
  notified_at: z.number().optional(),
  decided_by: z.string().default(""),
  decided_at: z.number().optional(),
  comment: z.string().default(""),
  ended_at: z.number().optional(),
  /** Of the tool's answer, once it has run. */
  http_status: z.number().optional(),
  error_type: z.string().default(""),
  /** Which run's answer counts; absent while there is none. */
  result_id: z.string().optional(),
});
export type Approval = z.output<typeof record>;

/** `apr_`, the instant, and what keeps two of one instant apart: ids sort by time. */
export const newApprovalId = (nowMs: number) =>
  `apr_${String(nowMs).padStart(13, "0")}_${randomBytes(8).toString("hex")}`;
const idPattern = /^apr_\d{13}_[0-9a-f]{16}$/;
/** Whether a text can be an id of ours; whatever else a caller sends is looked up nowhere. */
export const isApprovalId = (text: string) => idPattern.test(text);

/** By the clock: what nobody decided on in time has expired, whether or not `sweep` has noted it. */
export const approvalStatus = ({ status, expires_at }: Approval, nowMs: number): ApprovalState =>
  status === "pending" && expires_at <= nowMs ? "expired" : status;

/** Access pattern: one approval, strongly consistent. */
export async function readApproval(workspace: string, id: string): Promise<Approval | undefined> {
  const item = isApprovalId(id) ? await get(approvalKey(workspace, id)) : undefined;
  return item && record.parse(item);
}

/** Access pattern: a workspace's approvals, newest first, one page. @param before id behind which to begin; "" for the newest */
export async function listApprovals(workspace: string, before: string, limit: number) {
  const page = await queryPage({
    KeyConditionExpression: "PK = :pk",
    ExpressionAttributeValues: { ":pk": approvalsPartition(workspace) },
    ScanIndexForward: false,
    Limit: limit,
    ...(before !== "" && { ExclusiveStartKey: approvalKey(workspace, before) }),
  });
  const approvals = (page.Items ?? []).map((item) => record.parse(item));
  return { approvals, more: page.LastEvaluatedKey !== undefined };
}

/** An item holds 400 KB; a request may have 512 KiB, and an answer more. */
const pieceBytes = 300 * 1024;

/** A held input or a result, in pieces; bytes, so that no character is cut. */
function textItems(workspace: string, id: string, name: ApprovalText, value: unknown, keepFrom: number): Item[] {
  const bytes = Buffer.from(JSON.stringify(value));
  const count = Math.ceil(bytes.length / pieceBytes);
  return Array.from({ length: count }, (_, piece) => ({
    ...approvalText(workspace, id, name, piece),
    bytes: bytes.subarray(piece * pieceBytes, (piece + 1) * pieceBytes),
    ttl: retention(keepFrom),
  }));
}

const piece = z.object({ bytes: z.instanceof(Uint8Array) });
/** A piece's number has two digits. */
const mostPieces = 100;

/** Access pattern: the input that is held. Undefined when it has expired. */
export const readHeldInput = (workspace: string, { id }: Pick<Approval, "id">) => readText(workspace, id, "INPUT");

/** Written before the approval that refers to it. */
export const putHeldInput = (workspace: string, approval: Approval, input: unknown) =>
  putText(workspace, approval, "INPUT", input);

/** Access pattern: what the tool answered. Undefined when there is no answer (yet). */
export const readResult = async (workspace: string, { id, result_id }: Approval): Promise<unknown> =>
  result_id === undefined ? undefined : readText(workspace, id, `RESULT#${result_id}`);

/**
 * Keeps what a run answered, apart from what others did: of two runs one ends the approval, and names its own answer.
 * @returns the approval's `result_id`
 */
export async function putResult(workspace: string, approval: Approval, result: unknown): Promise<string> {
  const resultId = randomBytes(8).toString("hex");
  await putText(workspace, approval, `RESULT#${resultId}`, result);
  return resultId;
}

async function readText(workspace: string, id: string, name: ApprovalText): Promise<unknown> {
  const items = await queryPrefix(approvalTexts(workspace, id), `${name}#`, mostPieces);
  if (items.length === 0) return undefined;
  return JSON.parse(Buffer.concat(items.map((item) => piece.parse(item).bytes)).toString());
}

/** Access pattern: how each of many held inputs begins, as JSON text; at most 20 of them, in one request. */
export async function readInputsBeginnings(workspace: string, ids: readonly string[]): Promise<string[]> {
  const items = await getAll(ids.map((id) => approvalText(workspace, id, "INPUT", 0)));
  return items.map((item) => (item === undefined ? "" : Buffer.from(piece.parse(item).bytes).toString()));
}

const putText = (workspace: string, approval: Approval, name: ApprovalText, value: unknown) =>
  putAll(textItems(workspace, approval.id, name, value, approval.expires_at));

/** Stores a new approval; `sweep` looks at it at once, to tell the operators. */
export const newApprovalWrite = (workspace: string, approval: Approval): Write => ({
  Put: {
    Item: {
      ...approval,
      ...approvalKey(workspace, approval.id),
      GSI1PK: approvalsDueIndex,
      GSI1SK: dueRecordSort(approval.requested_at, workspace, approval.id),
      ttl: retention(approval.expires_at),
    },
    ConditionExpression: "attribute_not_exists(PK)",
  },
});

/**
 * Moves an approval from one state to another, if it still is in the first. A pending one must also be in time for a
 * decision, and past its time to expire.
 * @param dueAt when `sweep` must look at it again (ms); undefined: never
 */
export function transitionWrite(
  workspace: string,
  { id }: Pick<Approval, "id">,
  from: ApprovalState,
  change: Partial<Approval> & { status: ApprovalState },
  dueAt: number | undefined,
  nowMs: number,
): Write {
  const values = { ...change, ...(dueAt !== undefined && { GSI1SK: dueRecordSort(dueAt, workspace, id) }) };
  const set = Object.keys(values).map((name) => `#${name} = :${name}`);
  const clock =
    from !== "pending" ? [] : [change.status === "expired" ? "#expires_at <= :clock" : "#expires_at > :clock"];
  return {
    Update: {
      Key: approvalKey(workspace, id),
      UpdateExpression: `SET ${set.join(", ")}${dueAt === undefined ? " REMOVE #GSI1PK, #GSI1SK" : ""}`,
      ConditionExpression: ["attribute_exists(PK)", "#status = :from", ...clock].join(" AND "),
      ExpressionAttributeValues: {
        ...Object.fromEntries(Object.entries(values).map(([name, value]) => [`:${name}`, value])),
        ":from": from,
        ...(clock.length > 0 && { ":clock": nowMs }),
      },
    },
  };
}

/** The approvals that `sweep` must look at. */
export const dueApprovals = (untilMs: number) => dueRecords(approvalsDueIndex, untilMs, record);
