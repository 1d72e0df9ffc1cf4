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
  /** Keys the digests of inputs in the audit trail; never shown. Another one when the key is rotated. */
  digestKey: string;
  /** Repositories it may read; `*` is all of the workspace's. */
  repositories: readonly string[];
}

/** A key that we know was refused: the audit trail of its workspace names it. */
export class KeyRefused extends ToolError {
  readonly principal: Principal;

  constructor(key: ApiKey, ...error: ConstructorParameters<typeof ToolError>) {
    super(...error);
    this.principal = principalOf(key);
  }
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
  const refusal = ["UNAUTHENTICATED", "The API key is unknown, expired or revoked."] as const;
  if (!named || !key) throw new ToolError(...refusal);
  if (!isSecret(key, named.secret) || !isInForce(key, nowMs)) throw new KeyRefused(key, ...refusal);
  await enforceRate(key, nowMs);
  return principalOf(key);
}

/**
 * The principal of a request that our own parts make for a key's holder, who is not there: no secret is needed, since
 * only our own roles can make it, but the key must still be in force.
 * @throws {ToolError} KEY_REVOKED
 */
export async function principalOfKey(workspace: string, keyId: string, nowMs = Date.now()): Promise<Principal> {
  const key = await readApiKey(workspace, keyId);
  if (key && isInForce(key, nowMs)) return principalOf(key);
  const refusal = ["KEY_REVOKED", "The API key that asked for this is revoked or expired."] as const;
  throw key ? new KeyRefused(key, ...refusal) : new ToolError(...refusal);
}

const principalOf = (key: ApiKey): Principal => ({
  workspace: key.workspace,
  keyId: key.id,
  actor: key.actor,
  scopes: key.scopes,
  agents: key.agents,
  repositories: key.repositories,
  digestKey: key.secret_sha256,
});

const isSecret = (key: ApiKey, secret: string) =>
  timingSafeEqual(createHash("sha256").update(secret).digest(), Buffer.from(key.secret_sha256, "hex"));

const isInForce = (key: ApiKey, nowMs: number) =>
  key.revoked_at === undefined && (key.expires_at === undefined || key.expires_at > nowMs);

async function enforceRate(key: ApiKey, nowMs: number): Promise<void> {
  if (key.rate_per_minute === undefined) return;
  if (await countUse(key.workspace, key.id, key.rate_per_minute, nowMs)) return;
  throw new KeyRefused(key, "RATE_LIMITED", `This key may make ${key.rate_per_minute} calls a minute.`, {
    retryAfterS: Math.ceil((60_000 - (nowMs % 60_000)) / 1000),
  });
}

const missingPermissions = (scopes: readonly string[], { permissions }: Pick<Contract, "permissions">) =>
  permissions.filter((permission) => !scopes.includes(permission));

/** Whether a key with these scopes may use a tool: then it is in the key's lists of tools, too. */
export const mayUse = (scopes: readonly string[], contract: Pick<Contract, "permissions">) =>
  missingPermissions(scopes, contract).length === 0;

/** @throws {ToolError} PERMISSION_DENIED unless the key holds every permission of the tool */
export function authorise({ scopes }: Principal, contract: Contract): void {
  const missing = missingPermissions(scopes, contract);
  if (missing.length === 0) return;
  const message = `${contract.name} needs the permission ${missing.join(", ")}, which this key lacks.`;
  throw new ToolError("PERMISSION_DENIED", message, { details: { missing } });
}

/** Nobody speaks for another. */
export const maySpeakFor = ({ agents }: Principal, agent: string) =>
  agents.some((allowed) => allowed === "*" || fold(allowed) === fold(agent));

/**
 * Refused alike whether or not that agent exists, so that names can't be probed.
 * @throws {ToolError} IDENTITY_MISMATCH
 */
export function assertSpeaksFor(principal: Principal, agent: string): void {
  if (maySpeakFor(principal, agent)) return;
  throw new ToolError("IDENTITY_MISMATCH", "This key may not speak for that agent.", {
    details: { may_speak_for: principal.agents },
  });
}
