import { execFile } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { announce } from "../../infra/local/registry.ts";
import { acts, unique } from "../acts.ts";
import { startTestSystem } from "../system.ts";

const script = join(import.meta.dirname, "../../infra/approvals.ts");

const system = await startTestSystem({ APPROVAL_TOOLS: "call_agent" });
const withdraw = announce({ pid: process.pid, port: system.port, url: system.url, env: system.env });
afterAll(async () => {
  withdraw();
  await system.stop();
});
const boss = await system.createKey({ actor: "boss@example.com", scopes: ["approval:read", "approval:decide"] });
const { register } = acts(system.tool);
const [lead, writer] = [await register("lead"), await register("writer")];

/** Runs `npm run approvals -- <args>` as the person behind `key` does, against this file's system. */
function approvals(
  args: readonly string[],
  key = boss,
  set: Record<string, string> = {},
): Promise<{ code: number; out: string; err: string }> {
  const { SWITCHBOARD_URL: _, ...others } = process.env;
  const env = { ...others, ...set };
  return new Promise((resolve) => {
    const all = [script, ...args, ...(args.includes("--url") ? [] : ["--port", String(system.port)])];
    execFile(process.execPath, all, { env: { ...env, SWITCHBOARD_KEY: key } }, (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code), out: out.trim(), err: err.trim() });
    });
  });
}

async function held(content = "Please.") {
  const input = { session_id: unique("s"), user_name: "alice", sender: lead, receiver: writer, content };
  const { body } = await system.tool("call_agent", input);
  return String(body.error?.details?.approval_id);
}

test("list names what waits, its risk, who asks and until when; what is decided leaves it", async () => {
  const id = await held();
  const row = async () => (await approvals(["list"])).out.split("\n").find((line) => line.startsWith(id));
  expect(await row()).toMatch(new RegExp(`call_agent +medium +${lead}, for operator \\(key admin\\) +20\\d\\d-`));
  await approvals(["deny", id]);
  expect(await row()).toBeUndefined();
  expect((await approvals(["list", "--status", "denied"])).out).toContain(id);
  expect((await approvals(["list", "--status", "expired"])).out).toBe("Nothing is expired.");
});

test("show prints the exact input, and nothing in it that could play tricks on a terminal", async () => {
  const id = await held("\u001b[2J\u202eevil");
  const { code, out } = await approvals(["show", id]);
  expect(code).toBe(0);
  expect(out).toContain('"content": "\\u001b[2J\\u{202e}evil"');
  expect(out).toMatch(/Status +pending\n/);
});

test("an input can't move the cursor, colour the terminal, turn the text around or begin a line of its own", async () => {
  const id = await held("\u001b[2J\u009b31m\u202e\u2028Risk  low\r\nRisk  low");
  const { out } = await approvals(["show", id]);
  expect(out.match(/^Risk.*$/gm)).toHaveLength(1);
  expect(out).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
});

test("a decision goes to the system that is named, not to the one that is set", async () => {
  const id = await held("here");
  const { out } = await approvals(["show", id], boss, { SWITCHBOARD_URL: "http://127.0.0.1:9" });
  expect(out).toContain('"content": "here"');
});

test("an answer that is no Switchboard's is said to be none", async () => {
  const server = createServer((_, response) => response.writeHead(502).end("<html>"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { code, err } = await approvals(["list", "--url", url]);
  expect({ code, err }).toEqual({ code: 1, err: `${url} answers 502, and not as a Switchboard does.` });
});

test("approve runs the request, and prints who decided, why, and the tool's answer", async () => {
  const id = await held();
  const { code, out } = await approvals(["approve", id, "--comment", "Go ahead."]);
  expect(code).toBe(0);
  expect(out).toMatch(/Status +executed\n/);
  expect(out).toMatch(/Decided +by boss@example.com at 20.+: Go ahead\./);
  expect(out).toMatch(/Result:\n\{\n {2}"code": 202,/);
});

describe("is refused in the tool's own words, or told how it is used:", () => {
  test("a decision on one's own request", async () => {
    const { code, err } = await approvals(["approve", await held()], system.key);
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining("Ask another person to decide") });
  });

  test.each([
    [[], "Say what to do."],
    [["aprove", "apr_1"], 'There is no command "aprove". Did you mean approve?'],
    [["toString", "apr_1"], 'There is no command "toString".'],
    [["approve"], "approve needs the approval's id, from list."],
    [["show", ""], "show needs the approval's id, from list."],
    [["list", "apr_1"], '"apr_1" is too much.'],
    [["list", "--status", "aproved"], 'No approval is "aproved". Did you mean approved?'],
    [["list", "--comment", "No."], "--comment means nothing to list."],
    [["show", "apr_1", "--status", "denied"], "--status means nothing to show."],
    [["list", "--url", "http://127.0.0.1:1", "--port", "1"], "--url and --port name two systems."],
    [["list", "--url", "http://127.0.0.1:1"], "http://127.0.0.1:1 does not answer."],
    [["show", "apr_1"], "There is no approval apr_1."],
  ])("%j", async (args, complaint) => {
    const { code, err } = await approvals(args);
    expect(code).toBe(1);
    expect(err).toContain(complaint);
  });
});
