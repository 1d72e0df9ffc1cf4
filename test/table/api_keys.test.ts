import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Permission } from "../../functions/_runtime/contract.ts";
import { formatToken, parseToken } from "../../functions/_table/api_keys.ts";
import { noFunctions, startTestSystem, type TestSystem } from "../system.ts";

type Keys = typeof import("../../functions/_table/api_keys.ts");
type Table = typeof import("../../functions/_table/table.ts");

let system: TestSystem;
let keys: Keys;
let table: Table;
const now = Date.parse("2027-01-01T00:00:10Z");
const secret = "0123456789abcdef".repeat(2);

beforeAll(async () => {
  system = await startTestSystem({}, noFunctions);
  keys = await import("../../functions/_table/api_keys.ts");
  table = await import("../../functions/_table/table.ts");
});
afterAll(() => system.stop());

const newKey = (workspace = "acme") => ({
  workspace,
  id: randomBytes(6).toString("hex"),
  scopes: ["agent:read" as const],
  agents: ["writer"],
  repositories: [],
  actor: "alice",
});

describe("a token", () => {
  test("is read into its parts and written back", () => {
    const token = { workspace: "acme1", id: "k2", secret };
    expect(parseToken(`sb_acme1_k2_${secret}`)).toEqual(token);
    expect(formatToken(token)).toBe(`sb_acme1_k2_${secret}`);
  });

  test.each([
    "",
    "sb_acme_k2_",
    `acme_k2_${secret}`,
    `sb_acme_k2_${secret.slice(1)}`,
    `sb_Acme_k2_${secret}`,
    `sb_acme_k_2_${secret}`,
    `sb_acme_k2_${secret.replace("0", "g")}`,
    `sb_ac#me_k2_${secret}`,
    `sb_acme_k2_${secret}\n`,
    `sb_acme_k2_${secret.toUpperCase()}`,
  ])("is none in %j", (text) => {
    expect(parseToken(text)).toBeUndefined();
  });
});

describe("a key", () => {
  test("is read as it was created, and its secret is nowhere in the table", async () => {
    const key = { ...newKey(), rate_per_minute: 5, expires_at: now + 1000 };
    expect(await keys.createApiKey(key, secret, now)).toBe(true);
    expect(await keys.readApiKey("acme", key.id)).toEqual({
      ...key,
      secret_sha256: keys.secretHash(secret),
      created_at: now,
    });
    const item = await table.get({ PK: `KEY#acme#${key.id}`, SK: "KEY" });
    expect(JSON.stringify(item)).not.toContain(secret);
  });

  test("is not there under another workspace or id", async () => {
    const key = newKey();
    await keys.createApiKey(key, secret, now);
    expect(await keys.readApiKey("other", key.id)).toBeUndefined();
    expect(await keys.readApiKey("acme", `${key.id}0`)).toBeUndefined();
  });

  test("is not overwritten by another of its id", async () => {
    const key = newKey();
    await keys.createApiKey(key, secret, now);
    expect(await keys.createApiKey({ ...key, actor: "mallory" }, "f".repeat(32), now)).toBe(false);
    expect(await keys.readApiKey("acme", key.id)).toMatchObject({
      actor: "alice",
      secret_sha256: keys.secretHash(secret),
    });
  });

  test("keeps its id and grants when it is rotated, and only the new secret is known", async () => {
    const key = newKey();
    await keys.createApiKey(key, secret, now);
    const next = "f".repeat(32);
    expect(await keys.rotateApiKey("acme", key.id, next, now + 1)).toBe(true);
    expect(await keys.readApiKey("acme", key.id)).toEqual({
      ...key,
      secret_sha256: keys.secretHash(next),
      created_at: now,
      rotated_at: now + 1,
    });
  });

  test("is revoked once and for good", async () => {
    const key = newKey();
    await keys.createApiKey(key, secret, now);
    expect(await keys.revokeApiKey("acme", key.id, now + 1)).toBe(true);
    expect(await keys.revokeApiKey("acme", key.id, now + 2)).toBe(false);
    expect(await keys.rotateApiKey("acme", key.id, secret, now + 3)).toBe(false);
    expect(await keys.readApiKey("acme", key.id)).toMatchObject({ revoked_at: now + 1 });
  });

  test("that does not exist can't be rotated or revoked, and none appears", async () => {
    expect(await keys.rotateApiKey("acme", "nobody", secret, now)).toBe(false);
    expect(await keys.revokeApiKey("acme", "nobody", now)).toBe(false);
    expect(await keys.readApiKey("acme", "nobody")).toBeUndefined();
  });

  test("keeps permissions of tools that are not there, and none that can't be one", async () => {
    const key = { ...newKey(), scopes: ["report:read", "agent", "a:b:c", "*", "Agent:call"] as Permission[] };
    await keys.createApiKey(key, secret, now);
    expect((await keys.readApiKey("acme", key.id))?.scopes).toEqual(["report:read"]);
  });
});

test("the list has every key of its workspace, by id, and no other's", async () => {
  const ids = Array.from({ length: 103 }, (_, n) => `k${String(n).padStart(3, "0")}`);
  await Promise.all(ids.map((id) => keys.createApiKey({ ...newKey("many"), id }, secret, now)));
  await keys.createApiKey(newKey("many2"), secret, now);
  expect((await keys.listApiKeys("many")).map(({ id }) => id)).toEqual(ids);
  expect(await keys.listApiKeys("none")).toEqual([]);
});

describe("the rate limit", () => {
  test("allows so many uses a minute, also of those that come at once, and starts anew with the next minute", async () => {
    const uses = await Promise.all(Array.from({ length: 10 }, () => keys.countUse("acme", "rated", 3, now)));
    expect(uses.filter(Boolean)).toHaveLength(3);
    expect(await keys.countUse("acme", "rated", 3, now + 49_999)).toBe(false);
    expect(await keys.countUse("acme", "rated", 3, now + 50_000)).toBe(true);
    expect(await keys.countUse("acme", "other", 3, now)).toBe(true);
  });

  test("expires by epoch seconds, after its minute", async () => {
    await keys.countUse("acme", "expiring", 3, now);
    const minute = Math.floor(now / 60_000);
    const item = await table.get({ PK: "KEY#acme#expiring", SK: `RATE#${minute}` });
    expect(item?.ttl).toBe((minute + 2) * 60);
  });
});
