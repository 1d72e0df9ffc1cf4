/**
 * Credentials and region that every local client uses, the functions' included: Amazon DynamoDB Local keeps a
 * database of its own for each pair of them.
 */
export const localIdentity = { region: "us-east-1", accessKeyId: "local", secretAccessKey: "local" } as const;

export const localAccount = "000000000000";

/** Configuration of an SDK client for a local endpoint. */
export function localClient(endpoint: string) {
  const { region, ...credentials } = localIdentity;
  return { endpoint, region, credentials };
}
