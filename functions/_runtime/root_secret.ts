import { GetSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { env } from "./env.ts";

const client = new SecretsManagerClient({});
let fetched: Promise<string> | undefined;

/** The root secret that webhook secrets are derived from; fetched once per process. */
export function rootSecret(): Promise<string> {
  fetched ??= fetchSecret().catch((error) => {
    fetched = undefined; // A failure is not kept: the next request tries again.
    throw error;
  });
  return fetched;
}

async function fetchSecret(): Promise<string> {
  const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: env().ROOT_SECRET_ID }));
  if (!SecretString) throw new Error("The root secret is empty.");
  return SecretString;
}
