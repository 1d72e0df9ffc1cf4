import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { toolClient } from "../tool_client.ts";
import { type LocalProcess, startProcess } from "./start_process.ts";

vi.setConfig({ testTimeout: 60_000 });

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "switchboard-"));
});
afterAll(() => rmSync(dir, { recursive: true }));

const start = () => startProcess(["--data", join(dir, "data")], { TABLE_NAME: basename(dir) });

const tasksOf = async ({ url, key }: LocalProcess, project_name: string) =>
  (await toolClient(url, key)("get_project", { user_name: "alice", project_name })).body.tasks ?? [];

test("schedules survive kill -9 of the whole process group: what runs meanwhile or later runs, what was cancelled does not", async () => {
  const first = await start();
  const tool = toolClient(first.url, first.key);
  for (const [agent_name, role] of Object.entries({ lead: "director", writer: "member" }))
    await tool("register_agent", { agent_name, role });
  const tasks = [{ name: "report", executor: "writer", content: "Write." }];
  const soon = `at(${new Date(Date.now() + 5_000).toISOString().slice(0, 19)})`;
  const schedule = (project_name: string, expression: string) =>
    tool("schedule_agent_work", {
      ...{ name: project_name, schedule: expression, user_name: "alice", leader: "lead" },
      ...{ content: "Good morning.", project_name, tasks },
    });
  await schedule("later", soon);
  const { schedule_id } = (await schedule("cancelled", soon)).body;
  const recurring = (await schedule("recurring", "rate(1 minute)")).body.schedule_id;
  await expect.poll(() => tasksOf(first, "recurring"), { timeout: 10_000 }).toMatchObject([{ schedule_id: recurring }]);
  await tool("cancel_schedule", { schedule_id, leader: "lead" });
  await first.kill9();

  const second = await start();

  await expect.poll(() => tasksOf(second, "later"), { timeout: 20_000 }).toMatchObject([{ name: "report" }]);
  expect(await tasksOf(second, "cancelled")).toEqual([]);
  expect(await tasksOf(second, "recurring")).toHaveLength(1);
  const { body } = await toolClient(second.url, second.key)("list_schedules", { all: true });
  expect(body.schedules.map(({ name, status, last_outcome }) => [name, status, last_outcome])).toEqual([
    ["later", expect.any(String), "started"],
    ["cancelled", "cancelled", ""],
    ["recurring", "active", "started"],
  ]);
  await second.stop();
});
