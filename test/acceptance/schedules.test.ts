import { expect, test, vi } from "vitest";
import { acts, unique } from "../acts.ts";
import { tool } from "./target_client.ts";

vi.setConfig({ testTimeout: 180_000 });

const { register } = acts(tool);

test("a rate and an at run, their tasks appear, and a schedule that was cancelled does nothing", async () => {
  const [leader, writer] = await Promise.all([register("lead", { role: "director" }), register("writer")]);
  const user_name = unique("alice");
  const tasks = [{ name: "简报", executor: writer, content: "汇总昨天的进展。" }];
  const plan = async (project_name: string, schedule: string) => {
    const input = { name: project_name, schedule, user_name, leader, content: "早上好。", project_name, tasks };
    const { status, body } = await tool("schedule_agent_work", input);
    expect({ status, schedule: body.schedule }).toEqual({ status: 200, schedule });
    return body.schedule_id;
  };
  const inSeconds = (s: number) => `at(${new Date(Date.now() + s * 1000).toISOString().slice(0, 19)})`;
  const tasksOf = async (project_name: string) =>
    (await tool("get_project", { user_name, project_name })).body.tasks ?? [];
  const task = (schedule_id: string) => ({ name: "简报", executor: writer, leader, status: "assigned", schedule_id });
  const patience = { timeout: 90_000, interval: 1_000 };

  const recurring = await plan("每分钟", "rate(1 minute)");
  const dropped = await plan("取消", inSeconds(10));
  const once = await plan("一次", inSeconds(20));
  const cancelled = await tool("cancel_schedule", { schedule_id: dropped, leader });
  expect(cancelled).toMatchObject({ status: 200, body: { status: "cancelled", next_runs: [] } });

  await expect.poll(() => tasksOf("一次"), patience).toMatchObject([task(once)]);
  await expect.poll(() => tasksOf("每分钟"), patience).toMatchObject([task(recurring)]);
  expect(await tasksOf("取消")).toEqual([]);

  await tool("cancel_schedule", { schedule_id: recurring, leader });
  const { schedules } = (await tool("list_schedules", { leader, all: true })).body;
  expect(schedules.map(({ name, last_outcome, next_runs }) => [name, last_outcome, next_runs])).toEqual([
    ["每分钟", expect.stringMatching(/started|skipped/), []],
    ["取消", "", []],
    ["一次", "started", []],
  ]);
});
