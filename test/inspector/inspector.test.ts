import { execFile } from "node:child_process";
import { join } from "node:path";
import { describe, expect, inject, test, vi } from "vitest";
import { unique } from "../acts.ts";
import type { ListedTool, ToolResult } from "../mcp/clients.ts";
import { playScenario } from "../mcp/scenario.ts";

vi.setConfig({ testTimeout: 300_000 });

const folder = inject("inspector");
const command = join(folder, "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js");

interface Run {
  exitCode: number;
  out: string;
  problem: string;
}

/** Runs the inspector's CLI once, which connects, asks one thing and ends. */
function inspect(era: string, method: string, ...more: string[]): Promise<Run> {
  const address = [`${inject("url")}/mcp`, "--transport", "http", "--protocol-era", era];
  const key = ["--header", `Authorization: Bearer ${inject("key")}`, "--stored-auth-only"];
  const args = [command, "--cli", ...address, ...key, "--format", "json", "--method", method, ...more];
  // A home of its own: it keeps settings and sign-ins there.
  const env = { ...process.env, HOME: folder };
  return new Promise((resolve) => {
    execFile(process.execPath, args, { env, maxBuffer: 16 * 1024 * 1024 }, (error, out, problem) => {
      resolve({ exitCode: error === null ? 0 : Number(error.code), out, problem });
    });
  });
}

const resultOf = <Result>({ out, problem }: Run): Result => {
  if (out === "") throw new Error(`The inspector printed no result: ${problem}`);
  return JSON.parse(out).result;
};

const call = (era: string, name: string, input: object, meta: object = {}) => {
  const metadata = Object.entries(meta).flatMap(([key, value]) => ["--tool-metadata", `${key}=${value}`]);
  return inspect(era, "tools/call", "--tool-name", name, "--tool-args-json", JSON.stringify(input), ...metadata);
};

describe.each(["modern", "legacy"])("the inspector's CLI, in the %s era", (era) => {
  // With --strict, a schema that some model's vendor would refuse gives an exit code of its own.
  const listing = inspect(era, "tools/list", "--strict");
  const list = async () => resultOf<{ tools: ListedTool[] }>(await listing).tools;

  test("lists the tools, and finds no error in their schemas", async () => {
    const response = await fetch(`${inject("url")}/v1/tools`, {
      headers: { authorization: `Bearer ${inject("key")}` },
    });
    const { tools } = (await response.json()) as { tools: { name: string; audience: string }[] };
    const agents = tools.filter(({ audience }) => audience === "agent");
    expect((await list()).map(({ name }) => name)).toEqual(agents.map(({ name }) => name));
    expect((await listing).exitCode).toBe(0);
  });

  test("calls every tool", async () => {
    const steps = await playScenario({
      call: async (name, input = {}, meta = {}) => resultOf<ToolResult>(await call(era, name, input, meta)),
    });
    // Repository tools answer without a code.
    for (const { tool, answer } of steps) expect(answer.code ?? 0, tool).toBeOneOf([0, 202]);
    const listed = (await list()).map(({ name }) => name);
    expect(new Set(steps.map(({ tool }) => tool))).toEqual(new Set(listed));
  });

  test("shows a failed tool's hint, and ends with its code for that", async () => {
    const failed = await call(era, "get_agent_status", { agent_name: unique("nobody"), user_name: "alice" });
    expect(failed.exitCode).toBe(5);
    expect(resultOf<ToolResult>(failed)).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("list_agents") }, {}],
    });
  });
});
