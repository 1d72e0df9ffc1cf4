import { setTimeout as sleep } from "node:timers/promises";
import { projectDigest, sessionDigest } from "../../functions/_table/keys.ts";
import { acts, byWebhook, unique } from "../acts.ts";
import { type Figure, measure } from "./figure.ts";
import type { Engines } from "./floor.ts";
import { callOverMcp, speaksMcp } from "./mcp.ts";
import type { Target } from "./target.ts";

/** Under 512 bytes, like most of what agents say to each other. */
export const content = "Two sentences for the home page, please: what we do, and for whom. ".repeat(7);

interface Bench {
  target: Target;
  engines: Engines;
  rounds: number;
}

/** What names one use: each has a session and a project of its own. */
interface Names {
  session_id: string;
  project_name: string;
}

const newNames = (): Names => ({ session_id: unique("s"), project_name: unique("site") });

/** A use by other names makes other records: the same texts with the new names' digests in them. */
const renamed = (known: Names) => () => {
  const fresh = newNames();
  return {
    [known.session_id]: fresh.session_id,
    [sessionDigest(known.session_id)]: sessionDigest(fresh.session_id),
    [known.project_name]: fresh.project_name,
    [projectDigest("alice", known.project_name)]: projectDigest("alice", fresh.project_name),
  };
};

/** Records one use, then takes it and its floor in turns. */
async function figure(name: string, { target, engines, rounds }: Bench, use: (names: Names) => Promise<unknown>) {
  await use(newNames()); // What only a first time does (a connection, a profile's "last seen") is not part of it.
  const names = newNames();
  const { operations } = await target.record(() => use(names));
  return measure(name, rounds, () => use(newNames()), engines.floorOf(operations, renamed(names)));
}

function answered({ status, body }: { status: number; body: { msg: string } }): void {
  if (status !== 200) throw new Error(`No reply: ${status} ${body.msg}`);
}

/** A call and its reply, in a session of its own, the receiver answering at once. */
export async function roundTripFigures(bench: Bench): Promise<Figure[]> {
  const { target } = bench;
  const { register, call, receive, reply } = acts(target.tool);
  const webhook = await target.webhookAgent(() => ({ body: { content } }));
  const [sender, called, inbox] = [
    await register("lead"),
    await register("writer", byWebhook(webhook)),
    await register("clerk"),
  ];
  const byInbox = async ({ session_id }: Names) => {
    const received = receive(inbox, { session_id }, 20);
    await sleep(inboxHeadStartMs);
    const calling = call({ session_id, sender, receiver: inbox, content }, 20);
    const { messages } = (await received).body;
    await reply(String(messages[0]?.call_id), inbox, { content });
    answered(await calling);
  };
  const figures = [
    await figure("call by webhook", bench, async ({ session_id }) =>
      answered(await call({ session_id, sender, receiver: called, content }, 20)),
    ),
    await figure("call by inbox", bench, byInbox),
  ];
  if (!(await speaksMcp(target))) return figures;
  const overMcp = async ({ session_id }: Names) => {
    const input = { session_id, user_name: "alice", sender, receiver: called, content };
    // Every call over MCP has a key; one that is known is renamed with its session.
    await callOverMcp(target, "call_agent", input, session_id);
  };
  return [...figures, await figure("call over MCP", bench, overMcp)];
}

/** The receiver waits already when the call is made, as one that answers at once does. */
const inboxHeadStartMs = 5;

export async function statusFigure(bench: Bench): Promise<Figure> {
  const { register, call, statusOf } = acts(bench.target.tool);
  const [sender, receiver] = [await register("lead"), await register("writer")];
  await call({ ...newNames(), sender, receiver, content });
  return figure("get_agent_status", bench, () => statusOf(receiver));
}

export async function assignmentFigures(bench: Bench): Promise<Figure[]> {
  const { register, assign } = acts(bench.target.tool);
  const leader = await register("lead", { role: "director" });
  const executors: string[] = [];
  for (let n = 0; n < 40; n++) executors.push(await register("writer"));
  const figures: Figure[] = [];
  for (const count of [1, 10, 40]) {
    const tasks = executors.slice(0, count).map((executor, n) => ({ name: `text ${n}`, executor, content }));
    const use = async (names: Names) => answered(await assign({ ...names, leader, content, tasks }));
    figures.push(await figure(`assignment of ${count}`, { ...bench, rounds: Math.ceil(bench.rounds / 4) }, use));
  }
  return figures;
}
