import { createHmac } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { rootSecret } from "../_runtime/root_secret.ts";
import type { Agent } from "../_table/agents.ts";
import { fold } from "../_table/keys.ts";

/**
 * An agent's webhook secret in the form of Standard Webhooks (`whsec_` and base64). It is derived from the
 * root secret and never stored, so the table holds nothing that could sign.
 */
export async function webhookSecret(
  workspace: string,
  { name, created_at }: Pick<Agent, "name" | "created_at">,
  version: number,
): Promise<string> {
  // With `created_at`, a name that is given to another agent later comes with other secrets.
  const facts = JSON.stringify([workspace, fold(name), created_at, version]);
  const derived = createHmac("sha256", await rootSecret()).update(facts);
  return `whsec_${derived.digest("base64")}`;
}

/** For how long after a rotation deliveries are signed by the previous secret too. */
export const secretOverlapMs = 24 * 3_600_000;

/**
 * Headers of Standard Webhooks over the exact bytes sent. After a rotation they carry two signatures, so that
 * a receiver may change over at its own time.
 */
export async function signatureHeaders(
  workspace: string,
  agent: Agent,
  messageId: string,
  body: string,
): Promise<Record<string, string>> {
  const now = new Date();
  const versions = [
    agent.secret_version,
    ...(agent.secret_overlap_until > now.getTime() ? [agent.secret_version - 1] : []),
  ];
  const secrets = await Promise.all(versions.map((version) => webhookSecret(workspace, agent, version)));
  return {
    "webhook-id": messageId,
    "webhook-timestamp": String(Math.floor(now.getTime() / 1000)),
    "webhook-signature": secrets.map((secret) => new Webhook(secret).sign(messageId, now, body)).join(" "),
  };
}
