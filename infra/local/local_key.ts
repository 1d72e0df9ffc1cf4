import { randomBytes } from "node:crypto";
import {
  formatToken,
  parseToken,
  readApiKey,
  replaceApiKey,
  secretHash,
  type Token,
} from "../../functions/_table/api_keys.ts";
import { permissions } from "../../functions/tools.ts";
import { OperatorError } from "../arguments.ts";
import type { DataDir } from "./data_dir.ts";
import { newSecret } from "./new_secret.ts";

const keptAs = "key";

/** @throws {OperatorError} when SWITCHBOARD_KEY can't be a key */
export function readGivenKey(text: string): Token {
  const token = parseToken(text);
  if (token) return token;
  throw new OperatorError(
    "SWITCHBOARD_KEY must look like sb_<workspace>_<id>_<secret>: workspace and id in a-z and 0-9, " +
      "the secret in hexadecimal digits (0-9, a-f), at least 32 of them.",
  );
}

/**
 * Makes sure that the table holds a key that may do everything, and returns its token. It is the given one,
 * else the one kept in the data directory, so that it survives restarts, else a new one.
 */
export async function ensureLocalKey(given: Token | undefined, dataDir: DataDir | undefined): Promise<string> {
  const token = given ?? (await keptKey(dataDir)) ?? (await newKey());
  const { workspace, id, secret } = token;
  // Written at each start, so that permissions which a newer version brings are held too.
  await replaceApiKey(
    { workspace, id, scopes: [...permissions], agents: ["*"], repositories: ["*"], actor: "operator" },
    secret,
    Date.now(),
  );
  if (!given) dataDir?.write(keptAs, formatToken(token));
  return formatToken(token);
}

/** What an operator did to the first key stays: then it is another one. */
async function newKey(): Promise<Token> {
  const isTaken = (await readApiKey("local", "admin")) !== undefined;
  const id = isTaken ? `admin${randomBytes(4).toString("hex")}` : "admin";
  return { workspace: "local", id, secret: newSecret() };
}

/** The kept key, unless the operator has revoked it or given it another secret since. */
async function keptKey(dataDir: DataDir | undefined): Promise<Token | undefined> {
  const token = parseToken(dataDir?.read(keptAs) ?? "");
  const record = token && (await readApiKey(token.workspace, token.id));
  const stopped = record && (record.revoked_at !== undefined || record.secret_sha256 !== secretHash(token.secret));
  return stopped ? undefined : token;
}
