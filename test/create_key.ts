import { randomBytes } from "node:crypto";
import type { NewApiKey } from "../functions/_table/api_keys.ts";
import { permissions } from "../functions/tools.ts";
import { newSecret } from "../infra/local/new_secret.ts";

/** Issues a key in the system of this process; what isn't given is wide open. Returns its token. */
export async function createKey(key: Partial<NewApiKey> = {}): Promise<string> {
  // Loaded only now, when the system has set the environment.
  const { createApiKey, formatToken } = await import("../functions/_table/api_keys.ts");
  const id = randomBytes(6).toString("hex");
  const full = {
    workspace: "local",
    id,
    scopes: [...permissions],
    agents: ["*"],
    repositories: ["*"],
    actor: "test",
    ...key,
  };
  const secret = newSecret();
  if (!(await createApiKey(full, secret, Date.now()))) throw new Error(`There is a key ${full.id} already.`);
  return formatToken({ workspace: full.workspace, id: full.id, secret });
}
