import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { runningSystems } from "../../infra/local/registry.ts";
import { toolClient } from "../tool_client.ts";
import { type LocalProcess, startProcess } from "./start_process.ts";

const root = join(import.meta.dirname, "../..");
const noteOf = ({ port }: LocalProcess) => join(root, ".local", `${port}.json`);
const engineOf = (system: LocalProcess): string =>
  JSON.parse(readFileSync(noteOf(system), "utf8")).env.AWS_ENDPOINT_URL_DYNAMODB;

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "switchboard-"));
});
afterAll(() => rmSync(dir, { recursive: true }));

/** Starts a system on data of this name; again, when it has been started before. */
const startOn = (name: string) => startProcess(["--data", join(dir, name)], { TABLE_NAME: `${basename(dir)}-${name}` });

/** Runs `npm start` to its end and returns what it said. */
function refused(args: readonly string[], env: Record<string, string> = {}) {
  const { status, stderr } = spawnSync(process.execPath, ["infra/local/main.ts", ...args], {
    cwd: root,
    env: { ...process.env, ...env },
    encoding: "utf8",
  });
  return { status, stderr };
}

describe("with --data", () => {
  test("key, agents and messages survive kill -9 of the whole process group", async () => {
    const first = await startOn("killed");
    const tool = toolClient(first.url, first.key);
    for (const agent_name of ["lead", "writer"]) await tool("register_agent", { agent_name, role: "member" });
    const call = { sender: "lead", receiver: "writer", session_id: "s-1", user_name: "alice", content: "hello" };
    const { status } = await tool("call_agent", call, { headers: { prefer: "respond-async" } });
    expect(status).toBe(202);
    await first.kill9();

    const second = await startOn("killed");
    expect(second.key).toBe(first.key);
    const { body } = await toolClient(second.url, second.key)("receive_messages", { agent_name: "writer" });
    expect(body.messages).toMatchObject([{ kind: "call", sender: "lead", content: "hello" }]);
    await second.stop();
  });

  test("secrets are readable by their owner only, and a second system is turned away", async () => {
    const data = join(dir, "shared");
    const system = await startOn("shared");
    const modes = ["", "key", "root-secret"].map((name) => statSync(join(data, name)).mode & 0o777);
    expect(modes).toEqual([0o700, 0o600, 0o600]);
    expect(statSync(noteOf(system)).mode & 0o777).toBe(0o600);
    expect(refused(["--port", "0", "--data", data])).toMatchObject({
      status: 1,
      stderr: `Another Switchboard is using ${data}. Stop it, or choose another directory with --data.\n`,
    });
    await system.stop();
  });

  test("a secret that was rotated away does not come back with the next start", async () => {
    const first = await startOn("rotated");
    const rotate = ["infra/keys.ts", "rotate", "--id", "admin", "--port", String(first.port)];
    execFileSync(process.execPath, rotate, { cwd: root, stdio: "pipe" });
    await first.stop();

    const second = await startOn("rotated");
    expect(second.key).not.toBe(first.key);
    const { status } = await toolClient(second.url, first.key)("list_agents");
    expect(status).toBe(401);
    await second.stop();
  });
});

describe("the bundled engine", () => {
  const bundled = { DYNAMODB_ENDPOINT: "" };

  test("ends with it on SIGTERM, and no note of it is left", async () => {
    const system = await startProcess([], bundled);
    const [note, engine] = [noteOf(system), engineOf(system)];
    expect((await fetch(engine)).status).toBeLessThan(500);
    await system.stop();
    expect(existsSync(note)).toBe(false);
    await expect(fetch(engine)).rejects.toThrow();
  });

  test("ends also when the system alone is killed", async () => {
    const system = await startProcess([], bundled);
    const [{ pid }, engine] = [JSON.parse(readFileSync(noteOf(system), "utf8")), engineOf(system)];
    process.kill(pid, "SIGKILL");
    await vi.waitFor(() => expect(fetch(engine)).rejects.toThrow(), 5_000);
    await system.stop();
    expect(runningSystems().map(({ port }) => port)).not.toContain(system.port);
  });
});

test("SWITCHBOARD_KEY sets the key", async () => {
  const key = `sb_acme_ops_${"0123456789abcdef".repeat(2)}`;
  const system = await startProcess([], { SWITCHBOARD_KEY: key });
  expect(system.key).toBe(key);
  expect((await toolClient(system.url, key)("list_agents")).status).toBe(200);
  await system.stop();
});

test.each([
  [["--prot", "1"], "Unknown option '--prot'"],
  [["--port", "65536"], "--port must be a number from 0 to 65535"],
  [["extra"], "extra"],
])("%j is refused with a reason and the usage", (args, reason) => {
  const { status, stderr } = refused(args);
  expect(status).toBe(1);
  expect(stderr).toContain(reason);
  expect(stderr).toContain("Usage: npm start");
});

test("a SWITCHBOARD_KEY that can't be one is refused with the form it must have", () => {
  const { status, stderr } = refused(["--port", "0"], { SWITCHBOARD_KEY: "sb_local_admin_1234" });
  expect(status).toBe(1);
  expect(stderr).toMatch(/^SWITCHBOARD_KEY must look like sb_<workspace>_<id>_<secret>.*\n$/);
});
