import { execFile } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { announce } from "../../infra/local/registry.ts";
import { unique } from "../acts.ts";
import { startTestSystem } from "../system.ts";

/* What a person sees and does by `npm run approvals`. */

const system = await startTestSystem({ APPROVAL_TOOLS: "register_project" });
const withdraw = announce({ pid: process.pid, port: system.port, url: system.url, env: system.env });
afterAll(async () => {
  withdraw();
  await system.stop();
});
const key = await system.createKey({ actor: "boss@example.com", scopes: ["approval:read", "approval:decide"] });
const here = ["--port", String(system.port)];

/** Runs `npm run approvals -- <args>` as a person does. */
function approvals(
  args: string[],
  env: Record<string, string> = {},
): Promise<{ code: number; out: string; err: string }> {
  const script = join(import.meta.dirname, "../../infra/approvals.ts");
  return new Promise((resolve) => {
    const options = { env: { ...process.env, SWITCHBOARD_KEY: key, ...env } };
    execFile(process.execPath, [script, ...args], options, (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code), out: out.trim(), err: err.trim() });
    });
  });
}

async function held(description: string): Promise<string> {
  const input = { user_name: "alice", project_name: unique("p"), description };
  const { body } = await system.tool("register_project", input);
  return String(body.error?.details?.approval_id);
}

test("what waits is listed, shown with the input that would run, and decided on", async () => {
  const id = await held("a new site");
  expect((await approvals(["list", ...here])).out).toContain(id);
  expect((await approvals(["show", id, ...here])).out).toContain('"description": "a new site"');
  expect((await approvals(["approve", id, "--comment", "Good.", ...here])).out).toMatch(/^Status +executed$/m);
  const again = await approvals(["deny", id, ...here]);
  expect(again).toMatchObject({ code: 1, err: expect.stringContaining("boss@example.com has decided on this") });
});

test("an input can't move the cursor, colour the terminal, turn the text around or begin a line of its own", async () => {
  const id = await held("\u001b[2J\u009b31m\u202e\u2028Risk  low\r\nRisk  low");
  const { out } = await approvals(["show", id, ...here]);
  expect(out.match(/^Risk.*$/gm)).toHaveLength(1);
  expect(out).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
});

test.each([
  ["constructor", "x"],
  ["toString", "x"],
  ["__proto__", "x"],
  ["show", ""],
  ["approve", ""],
])("%s %j is answered with the usage", async (...args) => {
  const { code, err } = await approvals([...args, ...here]);
  expect(code).toBe(1);
  expect(err).toContain("Usage: npm run approvals");
});

test("a decision goes to the system that is named, not to the one that is set", async () => {
  const id = await held("here");
  const { out } = await approvals(["show", id, ...here], { SWITCHBOARD_URL: "http://127.0.0.1:9" });
  expect(out).toContain('"description": "here"');
});

test("an answer that is no Switchboard's is said to be none", async () => {
  const server = createServer((_, response) => response.writeHead(502).end("<html>"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { code, err } = await approvals(["list", "--url", url]);
  expect({ code, err }).toEqual({ code: 1, err: `${url} answers 502, and not as a Switchboard does.` });
});
