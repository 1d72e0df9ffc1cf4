import { createHash } from "node:crypto";
import * as z from "zod";
import { isPermission } from "../_runtime/contract.ts";
import { apiKey, apiKeyRate, apiKeysIndex } from "./keys.ts";
import { ConditionFailed, get, getAll, type Item, put, queryPage, ttl, update } from "./table.ts";

/** A key's record; its secret is never stored, only the SHA-256 of it. Instants are in ms. */
const record = z.object({
  workspace: z.string(),
  id: z.string(),
  secret_sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** One that no tool needs (any more) grants nothing; one that can't be a permission must not break the key. */
  scopes: z.array(z.string()).transform((held) => held.filter(isPermission)),
  /** Agents it may speak for; `*` is all of them. */
  agents: z.array(z.string()),
  /** Repositories that it may read; `*` is all of the workspace's. Keys from before there were any have no list. */
  repositories: z.array(z.string()).default([]),
  /** The person or system behind the key. */
  actor: z.string(),
  rate_per_minute: z.number().optional(),
  expires_at: z.number().optional(),
  revoked_at: z.number().optional(),
  created_at: z.number(),
  rotated_at: z.number().optional(),
});
export type ApiKey = z.output<typeof record>;

/** What an operator decides about a key. */
export type NewApiKey = Omit<ApiKey, "secret_sha256" | "created_at" | "revoked_at" | "rotated_at">;

/** The parts of a token `sb_<workspace>_<id>_<secret>`. */
export interface Token {
  workspace: string;
  id: string;
  secret: string;
}

const tokenPattern = /^sb_([a-z0-9]{1,64})_([a-z0-9]{1,64})_([0-9a-f]{32,128})$/;

/** Reads `sb_<workspace>_<id>_<secret>`; undefined when the text can't be a token. */
export function parseToken(text: string): Token | undefined {
  const [, workspace, id, secret] = tokenPattern.exec(text) ?? [];
  return workspace === undefined || id === undefined || secret === undefined ? undefined : { workspace, id, secret };
}

export const formatToken = ({ workspace, id, secret }: Token) => `sb_${workspace}_${id}_${secret}`;

/** Hex, as it is kept in `secret_sha256`. */
export const secretHash = (secret: string) => createHash("sha256").update(secret).digest("hex");

/** Access pattern: one key. Strongly consistent, so that a revoked key stops at once. */
export async function readApiKey(workspace: string, id: string): Promise<ApiKey | undefined> {
  const item = await get(apiKey(workspace, id));
  return item && record.parse(item);
}

/** Access pattern: a workspace's keys, sorted by id. From the index, so a new key may be missing for a moment. */
export async function listApiKeys(workspace: string): Promise<ApiKey[]> {
  const ids: string[] = [];
  let start: Item | undefined;
  do {
    const page = await queryPage({
      IndexName: "GSI1",
      KeyConditionExpression: "GSI1PK = :keys",
      ExpressionAttributeValues: { ":keys": apiKeysIndex(workspace) },
      ...(start && { ExclusiveStartKey: start }),
    });
    ids.push(...(page.Items ?? []).map(({ GSI1SK }) => String(GSI1SK)));
    start = page.LastEvaluatedKey;
  } while (start);
  const keys: ApiKey[] = [];
  for (let from = 0; from < ids.length; from += 100) {
    const items = await getAll(ids.slice(from, from + 100).map((id) => apiKey(workspace, id)));
    keys.push(...items.flatMap((item) => (item ? [record.parse(item)] : [])));
  }
  return keys;
}

/** Stores a new key. False when the workspace already has a key of this id; nothing is changed then. */
export async function createApiKey(key: NewApiKey, secret: string, nowMs: number): Promise<boolean> {
  return held(put({ Item: itemOf(key, secret, nowMs), ConditionExpression: "attribute_not_exists(PK)" }));
}

/** Stores a key in place of whatever has its id, revoked or not. */
export async function replaceApiKey(key: NewApiKey, secret: string, nowMs: number): Promise<void> {
  await put({ Item: itemOf(key, secret, nowMs) });
}

/** Stops a key at once and for good. False when it doesn't exist or is revoked already. */
export async function revokeApiKey(workspace: string, id: string, nowMs: number): Promise<boolean> {
  return held(
    update({
      Key: apiKey(workspace, id),
      UpdateExpression: "SET #revoked_at = :now",
      ConditionExpression: inForce,
      ExpressionAttributeNames: { "#revoked_at": "revoked_at" },
      ExpressionAttributeValues: { ":now": nowMs },
    }),
  );
}

/** Gives a key a new secret; the old one stops at once. False when it doesn't exist or is revoked. */
export async function rotateApiKey(workspace: string, id: string, secret: string, nowMs: number): Promise<boolean> {
  return held(
    update({
      Key: apiKey(workspace, id),
      UpdateExpression: "SET #secret_sha256 = :hash, #rotated_at = :now",
      ConditionExpression: inForce,
      ExpressionAttributeNames: {
        "#secret_sha256": "secret_sha256",
        "#rotated_at": "rotated_at",
        "#revoked_at": "revoked_at",
      },
      ExpressionAttributeValues: { ":hash": secretHash(secret), ":now": nowMs },
    }),
  );
}

/** Counts one use in the current minute of the clock. False when the minute's `limit` is used up. */
export async function countUse(workspace: string, id: string, limit: number, nowMs: number): Promise<boolean> {
  const minute = Math.floor(nowMs / 60_000);
  return held(
    update({
      Key: apiKeyRate(workspace, id, minute),
      UpdateExpression: "ADD #uses :one SET #ttl = :ttl",
      ConditionExpression: "attribute_not_exists(#uses) OR #uses < :limit",
      ExpressionAttributeNames: { "#uses": "uses", "#ttl": "ttl" },
      ExpressionAttributeValues: { ":one": 1, ":limit": limit, ":ttl": ttl((minute + 2) * 60_000) },
    }),
  );
}

const inForce = "attribute_exists(PK) AND attribute_not_exists(#revoked_at)";

function itemOf(key: NewApiKey, secret: string, nowMs: number): Item {
  return {
    ...apiKey(key.workspace, key.id),
    GSI1PK: apiKeysIndex(key.workspace),
    GSI1SK: key.id,
    ...key,
    secret_sha256: secretHash(secret),
    created_at: nowMs,
  };
}

/** Whether the condition of a write held. */
async function held(write: Promise<unknown>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    if (error instanceof ConditionFailed) return false;
    throw error;
  }
}
