import { afterAll, expect, test } from "vitest";
import { startTestSystem } from "../system.ts";
import { scheduling } from "./work.ts";

/* Runs of schedules where a person must approve each assignment. */

const system = await startTestSystem({ APPROVAL_TOOLS: "assign_agent_work" });
afterAll(() => system.stop());
const { tool } = system;
const { fire, listed, plan, tasksOf, team } = scheduling(system);

const at = (minute: number) => new Date(Date.UTC(2090, 0, 1, 9, minute)).toISOString();

test("a run is held until a person approves it; the next one doesn't ask anew, and each happens once", async () => {
  const names = await team();
  const { schedule_id } = (await plan(names)).body;
  const approvals = async () => (await tool("list_approvals", { status: "pending" })).body.approvals;

  await fire(schedule_id, at(0));
  expect(await listed(names.leader)).toMatchObject([{ last_outcome: "held", status: "active" }]);
  await fire(schedule_id, at(1));
  expect(await listed(names.leader)).toMatchObject([{ last_outcome: "skipped", last_run_at: at(1) }]);
  const [approval, ...more] = await approvals();
  expect(more).toEqual([]);
  expect(await tasksOf(names.user_name)).toEqual([]);

  const key = await system.createKey({ actor: "boss" });
  const decided = { approval_id: approval?.approval_id, decision: "approve" };
  expect((await tool("decide_approval", decided, { key })).status).toBe(200);
  await system.sweep(120);
  await fire(schedule_id, at(2));

  expect(await tasksOf(names.user_name)).toMatchObject([{ schedule_id }]);
  const trail = (await tool("list_audit_events", { agent_name: names.leader, tool: "assign_agent_work" })).body.events;
  expect(trail.map(({ outcome, via, schedule_id }) => [outcome, via, schedule_id])).toContainEqual([
    "ok",
    "approval",
    schedule_id,
  ]);
  expect(await approvals()).toEqual([]);
  expect(await listed(names.leader)).toMatchObject([{ last_outcome: "skipped", last_run_at: at(2) }]);
});
