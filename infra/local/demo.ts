import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import * as z from "zod";
import { listen } from "./loopback.ts";

const user_name = "alice";
const project_name = "website";

/** The parts of a delivery that the demo's workers read. */
const delivery = z.object({
  data: z.object({ kind: z.string(), receiver: z.string(), task_name: z.string(), content: z.string() }),
});
type Work = z.output<typeof delivery>["data"];

/**
 * Registers a master, a director and two workers, whose webhooks answer from this process for as long as it
 * runs, plays one assignment and prints each step. All of it over HTTP, as any platform would do it.
 */
export async function playDemo(url: string, key: string): Promise<void> {
  const call = toolCaller(url, key);
  const seen = Promise.withResolvers<void>();
  const webhook_url = await startWorkers(async ({ kind, receiver, task_name, content }) => {
    say(`  ${receiver}'s webhook receives a ${kind}: ${task_name || content}`);
    // Until we have looked at them, they are busy.
    if (kind === "task") await seen.promise;
    return kind === "task" ? `${task_name}: done by ${receiver}.` : `${receiver} is well, thank you.`;
  });

  say("Demo: four agents register.");
  await call("register_agent", { agent_name: "coach", role: "master" });
  await call("register_agent", { agent_name: "lead", role: "director" });
  await call("register_agent", {
    agent_name: "writer",
    role: "member",
    skills: ["copy"],
    delivery: "webhook",
    webhook_url,
  });
  await call("register_agent", {
    agent_name: "coder",
    role: "member",
    skills: ["html"],
    delivery: "webhook",
    webhook_url,
  });

  say("lead hands out two tasks.");
  const session_id = `demo-${Date.now()}`;
  const { tasks } = await call("assign_agent_work", {
    session_id,
    user_name,
    leader: "lead",
    content: "We relaunch the website today.",
    project_name,
    tasks: [
      { name: "home page copy", executor: "writer", content: "Write the copy of the home page." },
      { name: "home page", executor: "coder", content: "Build the home page." },
    ],
  });
  for (const task of tasks) say(`  ${task.name} for ${task.executor}: ${task.status}`);

  for (const agent_name of ["writer", "coder"]) {
    const { todos } = await call("get_agent_status", { agent_name, user_name });
    say(`  ${agent_name} is ${todos.length > 0 ? `busy: ${todos.join(", ")}` : "idle"}`);
  }
  seen.resolve();

  say("lead waits for the report.");
  await receiveReport(call, session_id);
  const { content } = await call("call_agent", {
    session_id,
    user_name,
    sender: "lead",
    receiver: "writer",
    content: "How are you?",
  });
  say(`lead asks writer how it is: "${content}"`);
  const { todos } = await call("get_agent_status", { agent_name: "writer", user_name });
  say(`writer is ${todos.length > 0 ? "busy" : "idle"} again. The demo is over; its agents stay until you stop.`);
}

const say = (line: string) => console.log(line);

/** The demo reads only these returns. */
const returns = z.object({
  msg: z.string(),
  content: z.string().default(""),
  todos: z.array(z.string()).default([]),
  tasks: z.array(z.object({ name: z.string(), executor: z.string().default(""), status: z.string() })).default([]),
  messages: z
    .array(
      z.object({
        message_id: z.string(),
        tasks: z.array(z.object({ name: z.string(), status: z.string(), detailed: z.string() })),
      }),
    )
    .default([]),
});
type ToolCaller = (tool: string, input: unknown, prefer?: string) => Promise<z.output<typeof returns>>;

function toolCaller(url: string, key: string): ToolCaller {
  return async (tool, input, prefer) => {
    const response = await fetch(`${url}/v1/tools/${tool}`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...(prefer && { prefer }) },
      body: JSON.stringify(input),
    });
    const answer = returns.parse(await response.json());
    if (response.ok) return answer;
    throw new Error(`${tool} answered ${response.status}: ${answer.msg}`);
  };
}

/** The session is the demo's own, so its first notice to the leader is the report. */
async function receiveReport(call: ToolCaller, session_id: string): Promise<void> {
  const { messages } = await call("receive_messages", { agent_name: "lead", session_id }, "wait=20");
  const [report] = messages;
  if (!report) throw new Error("No report has come.");
  for (const { name, status, detailed } of report.tasks) say(`  ${name} is ${status}: ${detailed}`);
  await call("receive_messages", { agent_name: "lead", session_id, ack: [report.message_id] });
}

/** Both workers' webhook. @returns its URL */
async function startWorkers(work: (data: Work) => Promise<string>): Promise<string> {
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const read = delivery.safeParse(await json(request).catch(() => undefined));
    if (!read.success) return response.writeHead(400).end();
    const content = await work(read.data.data);
    return response.setHeader("content-type", "application/json").end(JSON.stringify({ content }));
  };
  const server = createServer((request, response) => void answer(request, response));
  return `http://127.0.0.1:${await listen(server, 0)}`;
}
