import { createHash, timingSafeEqual } from "node:crypto";
import { type ApiKey, countUse, parseToken, readApiKey } from "../_table/api_keys.ts";
import { fold } from "../_table/keys.ts";
import type { Contract } from "./contract.ts";
import { ToolError } from "./errors.ts";
import { bearerToken, type GatewayEvent } from "./request.ts";

/** Who makes a request. The workspace comes from here and from nowhere else. */
export interface Principal {
  workspace: string;
  keyId: string;
  /** The person or system behind the key. */
  actor: string;
  scopes: readonly string[];
  /** Agents it may speak for; `*` is all of them. */
  agents: readonly string[];
  /** Repositories it may read; `*` is all of the workspace's. */
  repositories: readonly string[];
}

/**
 * One strongly consistent read of the key, so that a revoked key stops at once.
 * @throws {ToolError} UNAUTHENTICATED, the same for every reason; RATE_LIMITED
 */
export async function authenticate(event: GatewayEvent, nowMs = Date.now()): Promise<Principal> {
  const token = bearerToken(event);
  if (token === undefined) throw new ToolError("UNAUTHENTICATED", "The request carries no API key.");
  const named = parseToken(token);
  const key = named && (await readApiKey(named.workspace, named.id));
  if (!named || !key || !isSecret(key, named.secret) || !isInForce(key, nowMs)) {
    throw new ToolError("UNAUTHENTICATED", "The API key is unknown, expired or revoked.");
  }
  await enforceRate(key, nowMs);
  const { workspace, id, actor, scopes, agents, repositories } = key;
  return { workspace, keyId: id, actor, scopes, agents, repositories };
}

const isSecret = (key: ApiKey, secret: string) =>
  timingSafeEqual(createHash("sha256").update(secret).digest(), Buffer.from(key.secret_sha256, "hex"));

const isInForce = (key: ApiKey, nowMs: number) =>
  key.revoked_at === undefined && (key.expires_at === undefined || key.expires_at > nowMs);

async function enforceRate(key: ApiKey, nowMs: number): Promise<void> {
  if (key.rate_per_minute === undefined) return;
  if (await countUse(key.workspace, key.id, key.rate_per_minute, nowMs)) return;
  throw new ToolError("RATE_LIMITED", `This key may make ${key.rate_per_minute} calls a minute.`, {
    retryAfterS: Math.ceil((60_000 - (nowMs % 60_000)) / 1000),
  });
}

/** @throws {ToolError} PERMISSION_DENIED unless the key holds every permission of the tool */
export function authorise({ scopes }: Principal, contract: Contract): void {
  const missing = contract.permissions.filter((permission) => !scopes.includes(permission));
  if (missing.length === 0) return;
  throw new ToolError(
    "PERMISSION_DENIED",
    `${contract.name} needs the permission ${missing.join(", ")}, which this key lacks.`,
    {
      details: { missing },
    },
  );
}

/**
 * Nobody speaks for another: refused alike whether or not that agent exists, so that names can't be probed.
 * @throws {ToolError} IDENTITY_MISMATCH
 */
export function assertSpeaksFor({ agents }: Principal, agent: string): void {
  if (agents.some((allowed) => allowed === "*" || fold(allowed) === fold(agent))) return;
  throw new ToolError("IDENTITY_MISMATCH", "This key may not speak for that agent.", {
    details: { may_speak_for: agents },
  });
}
