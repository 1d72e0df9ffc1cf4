import { randomBytes } from "node:crypto";
import type { ApiKey } from "../functions/_table/api_keys.ts";
import { permissions } from "../functions/tools.ts";
import { aligned } from "./aligned.ts";
import { fail, OperatorError } from "./arguments.ts";
import { type KeyCommand, readCommand, usage } from "./key_options.ts";
import { newSecret } from "./local/new_secret.ts";
import { connect } from "./systems.ts";

/** Issues and withdraws the API keys of a running local system or a deployed stage: `npm run keys`. */
async function main(): Promise<void> {
  const command = readCommand(process.argv.slice(2), Date.now());
  if (!command) return void console.log(usage);
  await connect(command);
  console.log(await perform(command));
}

/** @returns what to print */
async function perform(command: KeyCommand): Promise<string> {
  // Loaded only now: its clients read the environment.
  const keys = await import("../functions/_table/api_keys.ts");
  const { name, workspace } = command;
  const now = Date.now();
  if (name === "list") return overview(await keys.listApiKeys(workspace), now);
  const id = command.id ?? randomBytes(6).toString("hex");
  const secret = newSecret();
  const none = `Workspace ${workspace} has no key ${id} in force.`;
  if (name === "create") {
    const { port: _, stage: __, name: ___, ...key } = command;
    if (!(await keys.createApiKey({ ...key, id }, secret, now))) {
      throw new OperatorError(`Workspace ${workspace} has a key ${id} already.`);
    }
  } else if (name === "rotate") {
    if (!(await keys.rotateApiKey(workspace, id, secret, now))) throw new OperatorError(none);
  } else {
    if (!(await keys.revokeApiKey(workspace, id, now))) throw new OperatorError(none);
    return `Key ${id} is revoked.`;
  }
  console.error("This token is shown only this once:");
  return keys.formatToken({ workspace, id, secret });
}

function overview(keys: readonly ApiKey[], nowMs: number): string {
  const date = (ms: number | undefined) => (ms === undefined ? "-" : `${new Date(ms).toISOString().slice(0, 16)}Z`);
  const rows = keys.map((key) => [
    key.id,
    stateOf(key, nowMs),
    key.actor,
    key.agents.join(","),
    key.repositories.join(",") || "-",
    String(key.rate_per_minute ?? "-"),
    date(key.created_at),
    date(key.expires_at),
    permissions.every((name) => key.scopes.includes(name)) ? "all" : key.scopes.join(","),
  ]);
  return aligned([["ID", "STATE", "ACTOR", "AGENTS", "REPOSITORIES", "RATE", "CREATED", "EXPIRES", "SCOPES"], ...rows]);
}

function stateOf({ revoked_at, expires_at }: ApiKey, nowMs: number): string {
  if (revoked_at !== undefined) return "revoked";
  return expires_at !== undefined && expires_at <= nowMs ? "expired" : "in force";
}

main().catch((error: unknown) => fail(error, usage));
