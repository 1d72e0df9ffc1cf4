import { execFile } from "node:child_process";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { announce } from "../../infra/local/registry.ts";
import { acts, unique } from "../acts.ts";
import { startTestSystem } from "../system.ts";

const script = join(import.meta.dirname, "../../infra/sessions.ts");

const system = await startTestSystem();
const withdraw = announce({ pid: process.pid, port: system.port, url: system.url, env: system.env });
afterAll(async () => {
  withdraw();
  await system.stop();
});
const { call, receive, register, reply } = acts(system.tool);

/** Runs `npm run sessions -- <args>` as an operator does, against this file's system. */
function sessions(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [script, ...args, "--port", String(system.port)], (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code), out: out.trim(), err: err.trim() });
    });
  });
}

test("show prints a session's messages in order with their states, and no content", async () => {
  const [lead, writer, session_id] = [await register("lead"), await register("writer"), unique("s")];
  const first = await call({ session_id, sender: lead, receiver: writer, content: "a secret" });
  await call({ session_id, sender: lead, receiver: writer });
  await receive(writer);
  await reply(first.body.call_id, writer, { content: "another secret" });

  const { code, out } = await sessions("show", session_id);

  expect(code).toBe(0);
  const [title, columns, ...rows] = out.split("\n").map((line) => line.trim());
  expect(title).toBe(`Session ${session_id} of alice: 2 calls, last number 3`);
  expect(columns).toMatch(/^SEQ +KIND +FROM +TO +STATE/);
  expect(rows.map((row) => row.split(/ {2,}/).slice(0, 5))).toEqual([
    ["1", "call", lead, writer, "answered"],
    ["2", "call", lead, writer, "queued"],
    ["3", "reply", writer, lead, "queued"],
  ]);
  expect(rows[0]).toContain(first.body.call_id);
  expect(out).not.toContain("secret");
});

test("a session that nobody has used is said to be none", async () => {
  const { code, err } = await sessions("show", "nothing");
  expect({ code, err }).toEqual({ code: 1, err: 'Workspace local has no session "nothing".' });
});

test("a command that can't be read is answered with the usage", async () => {
  const { code, err } = await sessions("list");
  expect(code).toBe(1);
  expect(err).toContain("Say what to show: show ID, with one session's id.");
});
