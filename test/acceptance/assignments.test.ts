import { expect, test, vi } from "vitest";
import { acts, unique } from "../acts.ts";
import { tool } from "./target_client.ts";

vi.setConfig({ testTimeout: 60_000 });

const { assign, receive, register, statusOf, update } = acts(tool);

/** Leader, two executors, and a user whose project no other test knows. */
async function team() {
  const [lead, writer, designer] = await Promise.all([
    register("lead", { role: "director" }),
    register("writer"),
    register("designer"),
  ]);
  return { lead, writer, designer, user_name: unique("alice"), session_id: unique("session") };
}

test("work goes to two executors, who are busy with it until they are done; then its leader gets one report", async () => {
  const { lead, writer, designer, user_name, session_id } = await team();
  const [project_name, project_root_dir] = ["官网改版", "/srv/website"];
  const files = [{ name: "home.md", demand: "首页文案", file: "docs/home.md" }];
  const registered = await tool("register_project", { user_name, project_name, project_root_dir, files });
  expect(registered).toMatchObject({ status: 200, body: { created: true } });

  const assigned = await assign({
    session_id,
    user_name,
    leader: lead,
    project_name,
    content: "官网改版开始了。",
    tasks: [
      { name: "首页文案", executor: writer, content: "写两句。" },
      { name: "首页样式", executor: designer, content: "调整样式。" },
    ],
  });
  const { assignment_id, tasks } = assigned.body;
  const [copy, style] = tasks.map(({ task_id }) => task_id) as [string, string];
  expect(assigned.status).toBe(200);
  expect(assigned.body).toEqual({
    code: 0,
    msg: expect.any(String),
    session_id,
    user_name,
    leader: lead,
    project_name,
    tasks: [
      { name: "首页文案", status: "assigned", detailed: "", task_id: copy, executor: writer },
      { name: "首页样式", status: "assigned", detailed: "", task_id: style, executor: designer },
    ],
    assignment_id: expect.stringMatching(/^asg_/),
  });

  for (const [agent_name, task_name] of [
    [writer, "首页文案"],
    [designer, "首页样式"],
  ] as const) {
    const todos = [`官网改版/${task_name}`];
    const busy = {
      code: 0,
      agent_name,
      user_name,
      session_id,
      project_name,
      task_name,
      todos,
      files,
      project_root_dir,
    };
    expect(await statusOf(agent_name, user_name)).toEqual({ ...busy, msg: expect.any(String) });
  }

  const { messages } = (await receive(writer, {}, 20)).body;
  expect(messages).toMatchObject([
    { kind: "task", task_id: copy, assignment_id, sender: lead, task_name: "首页文案", project_root_dir, files },
  ]);
  expect(messages[0]?.content).toBe("官网改版开始了。\n\n写两句。");
  expect(await update(copy, writer, "running", { detailed: "一句了。" })).toMatchObject({
    status: 200,
    body: { code: 0, task_id: copy, assignment_id, leader: lead, executor: writer, status: "running" },
  });
  const halfway = await tool("get_project", { user_name, project_name });
  expect(halfway.body.tasks.map(({ status, detailed }) => [status, detailed])).toEqual([
    ["running", "一句了。"],
    ["assigned", ""],
  ]);
  await update(copy, writer, "done", { detailed: "两句都好了。", files: ["docs/home.md"] });
  expect((await receive(lead)).body.messages).toEqual([]);
  await update(style, designer, "done", { detailed: "样式好了。" });

  for (const agent of [writer, designer]) {
    expect(await statusOf(agent, user_name)).toMatchObject({ todos: [], session_id: "", project_name: "", files: [] });
  }
  const project = await tool("get_project", { user_name, project_name });
  expect(project.body).toMatchObject({
    code: 0,
    user_name,
    project_name,
    project_root_dir,
    tasks: [
      { task_id: copy, name: "首页文案", executor: writer, status: "done", detailed: "两句都好了。" },
      { task_id: style, name: "首页样式", executor: designer, status: "done", detailed: "样式好了。" },
    ],
    next_cursor: "",
  });
  expect(project.body.tasks[0]?.files).toEqual(["docs/home.md"]);
  const report = await receive(lead, { limit: 10 }, 20);
  expect(report.body.messages).toMatchObject([{ kind: "report", assignment_id, receiver: lead, project_name }]);
  expect(report.body.messages[0]?.tasks).toEqual([
    { task_id: copy, name: "首页文案", status: "done", detailed: "两句都好了。" },
    { task_id: style, name: "首页样式", status: "done", detailed: "样式好了。" },
  ]);
});

test("a member assigns nothing", async () => {
  const { writer, designer, user_name, session_id } = await team();
  const tasks = [{ name: "copy", executor: designer, content: "Write." }];

  const refused = await assign({ session_id, user_name, leader: writer, tasks });

  expect(refused).toMatchObject({
    status: 403,
    body: { code: 403, session_id, user_name, leader: writer, tasks: [], error: { type: "NOT_A_LEADER" } },
  });
  expect((await statusOf(designer, user_name)).todos).toEqual([]);
});

test("a master or the leader as executor is rejected for that task alone", async () => {
  const { lead, writer, user_name, session_id } = await team();
  const coach = await register("coach", { role: "master" });
  const tasks = [coach, writer, lead].map((executor) => ({ name: `for ${executor}`, executor, content: "Do it." }));

  const { status, body } = await assign({ session_id, user_name, leader: lead, project_name: "site", tasks });

  expect(status).toBe(200);
  expect(body).toMatchObject({
    code: 0,
    tasks: [
      { executor: coach, status: "rejected", detailed: expect.stringContaining("master"), task_id: "" },
      { executor: writer, status: "assigned", detailed: "" },
      { executor: lead, status: "rejected", detailed: expect.stringContaining("leader"), task_id: "" },
    ],
  });
  expect((await statusOf(writer, user_name)).todos).toEqual([`site/for ${writer}`]);
});

test("an assignment of no tasks, or of none that is accepted, is answered with 200 and code 0", async () => {
  const { lead, user_name, session_id } = await team();
  const nobody = unique("nobody");

  const none = await assign({ session_id, user_name, leader: lead, tasks: [] });
  const rejected = await assign({
    session_id,
    user_name,
    leader: lead,
    tasks: [{ name: "copy", executor: nobody, content: "Write." }],
  });

  expect(none).toMatchObject({ status: 200, body: { code: 0, leader: lead, tasks: [], assignment_id: "" } });
  expect(rejected).toMatchObject({ status: 200, body: { code: 0, tasks: [{ executor: nobody, status: "rejected" }] } });
});
