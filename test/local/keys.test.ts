import { execFile } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { announce } from "../../infra/local/registry.ts";
import { startTestSystem, type TestSystem } from "../system.ts";

const script = join(import.meta.dirname, "../../infra/keys.ts");

let system: TestSystem;
let withdraw: () => void;

beforeAll(async () => {
  system = await startTestSystem();
  withdraw = announce({ pid: process.pid, port: system.port, url: system.url, env: system.env });
});

afterAll(async () => {
  withdraw();
  await system.stop();
});

interface Run {
  code: number;
  out: string;
  err: string;
}

/** Runs `npm run keys -- <args>` as an operator does, against this file's system. */
function keys(...args: string[]): Promise<Run> {
  return new Promise((resolve) => {
    const all = [script, ...args, ...(args.includes("--port") ? [] : ["--port", String(system.port)])];
    execFile(process.execPath, all, (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code), out: out.trim(), err: err.trim() });
    });
  });
}

const grants = ["--scopes", "agent:read", "--agents", "writer"];
const statusFor = async (key: string) => (await system.tool("list_agents", {}, { key })).status;

describe("create", () => {
  test("prints a token that works at once, with just the permissions that were given", async () => {
    const { code, out } = await keys("create", ...grants, "--id", "reader", "--actor", "alice", "--rate", "100");
    expect(code).toBe(0);
    expect(out).toMatch(/^sb_local_reader_[0-9a-f]{48}$/);
    expect(await statusFor(out)).toBe(200);
    const { status } = await system.tool("remove_agent", { agent_name: "writer" }, { key: out });
    expect(status).toBe(403);
  });

  test("makes up an id, and issues keys for other workspaces", async () => {
    const { out } = await keys("create", "--scopes", "all", "--agents", "*", "--workspace", "acme");
    expect(out).toMatch(/^sb_acme_[0-9a-f]{12}_[0-9a-f]{48}$/);
    expect(await statusFor(out)).toBe(200);
  });

  test("refuses an id that is taken, and leaves the key as it is", async () => {
    const { out: token } = await keys("create", ...grants, "--id", "taken");
    const second = await keys("create", ...grants, "--id", "taken");
    expect(second).toMatchObject({ code: 1, out: "", err: "Workspace local has a key taken already." });
    expect(await statusFor(token)).toBe(200);
  });

  test("makes a key that ends", async () => {
    const { out } = await keys("create", ...grants, "--id", "ending", "--expires", "30d");
    expect(await statusFor(out)).toBe(200);
    const { out: list } = await keys("list");
    const day = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);
    expect(list.split("\n").find((line) => line.startsWith("ending"))).toContain(day);
  });
});

test("list shows each key's state and grants, and no secret", async () => {
  const { out: token } = await keys(
    "create",
    ...grants,
    "--id",
    "shown",
    "--actor",
    "bob",
    "--rate",
    "7",
    "--repositories",
    "a,b",
  );
  const { out } = await keys("list");
  expect(out.split("\n").find((line) => line.startsWith("shown"))).toMatch(
    /^shown +in force +bob +writer +a,b +7 +\d{4}-\d\d-\d\dT\d\d:\d\dZ +- +agent:read$/,
  );
  expect(out.split("\n").find((line) => line.startsWith("admin"))).toMatch(/\* +\* .* all$/);
  expect(out).not.toContain(token.split("_")[3]);
});

test("rotate keeps the id and stops the old secret at once", async () => {
  const { out: old } = await keys("create", ...grants, "--id", "rotated");
  const { out: next } = await keys("rotate", "--id", "rotated");
  expect(next).toMatch(/^sb_local_rotated_[0-9a-f]{48}$/);
  expect(await statusFor(old)).toBe(401);
  expect(await statusFor(next)).toBe(200);
});

test("revoke stops a key at once and for good", async () => {
  const { out: token } = await keys("create", ...grants, "--id", "revoked");
  expect(await keys("revoke", "--id", "revoked")).toMatchObject({ code: 0, out: "Key revoked is revoked." });
  expect(await statusFor(token)).toBe(401);
  expect(await keys("rotate", "--id", "revoked")).toMatchObject({ code: 1, out: "" });
  expect(await keys("revoke", "--id", "revoked")).toMatchObject({ code: 1 });
  expect((await keys("list")).out).toMatch(/^revoked +revoked /m);
});

test("nonsense is refused with a reason and the usage", async () => {
  const { code, out, err } = await keys("create", "--scopes", "agent:cal", "--agents", "*");
  expect({ code, out }).toEqual({ code: 1, out: "" });
  expect(err).toContain('There is no permission "agent:cal". Did you mean agent:call?');
  expect(err).toContain("Usage: npm run keys");
});

test("without a system that runs it says how to start one", async () => {
  expect(await keys("list", "--port", "1")).toMatchObject({
    code: 1,
    err: "No local Switchboard is running on port 1. Start one with: npm start",
  });
});
