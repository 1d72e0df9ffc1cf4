import type { Action } from "./actions.ts";

interface Meeting {
  before: Action[];
  atOnce: Action[];
}

const call = (from: "lead" | "ann" | "bob", to: "lead" | "ann" | "bob" | "hugo" | "ines", waitS = 0, deadlineS = 30) =>
  ({ do: "call", from, to, session: "s1", waitS, deadlineS }) as const;
const assign = (executors: ("ann" | "bob")[], waitS = 0, deadlineS = 30) =>
  ({ do: "assign", session: "s1", executors, waitS, deadlineS }) as const;
const update = (task: number, status: "running" | "done") =>
  ({ do: "update", task, status, by: "the executor" }) as const;
const reply = { do: "reply", call: 0, by: "the receiver" } as const;
const cancelCall = { do: "cancel call", call: 0 } as const;
const look = { do: "look at a call", call: 0 } as const;
const cancelTask = { do: "cancel task", task: 0 } as const;
const receive = { do: "receive", agent: "ann", limit: 2, ack: true } as const;
const passes = (seconds: number) => ({ do: "time passes", seconds }) as const;
const sweep = { do: "sweep" } as const;
const deliver = { do: "deliver", wakeUp: 0 } as const;
const double = { do: "double a wake-up", wakeUp: 0 } as const;
const refuses = { do: "webhook changes", agent: "hugo", how: "refuses" } as const;

/** What meets at the same moment where it matters most. Deadlines and waits end in the middle. */
export const meetings: Record<string, Meeting> = {
  "two agents call each other and wait": {
    before: [call("lead", "hugo")],
    atOnce: [call("ann", "bob", 2), call("bob", "ann", 2)],
  },
  "three agents call one another in a ring and wait": {
    before: [call("lead", "hugo")],
    atOnce: [call("lead", "ann", 2), call("ann", "bob", 2), call("bob", "lead", 2)],
  },
  "calls to one agent are delivered while others come": {
    before: [call("lead", "hugo")],
    atOnce: [call("ann", "hugo"), call("bob", "hugo"), { do: "deliver all" }],
  },
  "a reply comes when the wait ends": {
    before: [call("lead", "ann", 1)],
    atOnce: [reply, passes(1)],
  },
  "a reply and a withdrawal come at the deadline": {
    before: [call("lead", "ann", 0, 1)],
    atOnce: [reply, cancelCall, passes(2), look, sweep],
  },
  "a wait, a call and its deadline end, and a sweep records it": {
    before: [call("lead", "ann", 1, 1)],
    atOnce: [reply, passes(2), look, sweep],
  },
  "an agent replies twice": {
    before: [call("lead", "ann")],
    atOnce: [reply, reply],
  },
  "an agent receives twice and replies": {
    before: [call("lead", "ann"), call("bob", "ann")],
    atOnce: [receive, receive, reply],
  },
  "a notice is acknowledged twice": {
    before: [call("ann", "bob"), reply, receive],
    atOnce: [receive, receive],
  },
  "a wake-up is worked off three times": {
    before: [call("lead", "hugo"), call("ann", "hugo")],
    atOnce: [deliver, double, double],
  },
  "a webhook answers at the deadline": {
    before: [call("lead", "hugo", 0, 1)],
    atOnce: [deliver, passes(2), look, sweep],
  },
  "a webhook refuses at the deadline": {
    before: [refuses, call("lead", "hugo", 0, 1)],
    atOnce: [deliver, passes(2), look, sweep],
  },
  "a call is withdrawn while it is delivered": {
    before: [call("lead", "ines")],
    atOnce: [deliver, cancelCall],
  },
  "an agent replies while its webhook answers": {
    before: [call("lead", "hugo")],
    atOnce: [deliver, reply],
  },
  "the last two tasks end": {
    before: [assign(["ann", "bob"])],
    atOnce: [update(0, "done"), update(1, "done")],
  },
  "the last task ends and is withdrawn when its leader's wait ends": {
    before: [assign(["ann"], 1)],
    atOnce: [update(0, "done"), cancelTask, passes(1)],
  },
  "a task makes progress at its deadline": {
    before: [assign(["ann"], 0, 1)],
    atOnce: [update(0, "running"), passes(2), sweep],
  },
  "a task makes progress and is done": {
    before: [assign(["ann"]), receive],
    atOnce: [update(0, "running"), update(0, "done"), receive],
  },
};
