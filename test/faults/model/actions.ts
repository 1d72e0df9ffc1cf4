import fc from "fast-check";

/** Who takes part. The lead hands out work; `how` a webhook answers changes while a run goes on. */
const inboxAgents = ["lead", "ann", "bob"] as const;
export const webhookAgents = ["hugo", "ines", "jan"] as const;
export const agents = [...inboxAgents, ...webhookAgents] as const;
type InboxAgent = (typeof inboxAgents)[number];
export type WebhookAgent = (typeof webhookAgents)[number];
export type AgentName = (typeof agents)[number];

/** Two conversations, each with its own user. */
export const userOf = { s1: "alice", s2: "bert" } as const;
export type SessionId = keyof typeof userOf;
export const sessions = ["s1", "s2"] as const satisfies readonly SessionId[];
export const project = "site";

/** At once, by 202 and nothing more, with a failure that is tried again, or with a final one. */
export type How = "answers" | "accepts" | "fails" | "refuses";
export const statusOfHow = { answers: 200, accepts: 202, fails: 500, refuses: 400 } as const;

/**
 * One thing that happens. A number picks among what there is when its turn comes: calls, tasks or wake-ups,
 * 0 the newest.
 */
export type Action =
  | { do: "call"; from: AgentName; to: AgentName; session: SessionId; waitS: number; deadlineS: number }
  | { do: "reply"; call: number; by: "the receiver" | "a stranger" }
  | { do: "cancel call"; call: number }
  | { do: "look at a call"; call: number }
  | { do: "receive"; agent: InboxAgent; limit: number; ack: boolean }
  | { do: "assign"; session: SessionId; executors: AgentName[]; waitS: number; deadlineS: number }
  | {
      do: "update";
      task: number;
      status: "running" | "done" | "failed" | "rejected";
      by: "the executor" | "a stranger";
    }
  | { do: "cancel task"; task: number }
  | { do: "time passes"; seconds: number }
  | { do: "sweep" }
  | { do: "deliver"; wakeUp: number }
  | { do: "deliver all" }
  | { do: "lose a wake-up"; wakeUp: number }
  | { do: "double a wake-up"; wakeUp: number }
  | { do: "webhook changes"; agent: WebhookAgent; how: How };

/** Mostly the newest, so that several actions meet. */
const pick = fc.oneof({ arbitrary: fc.constant(0), weight: 2 }, { arbitrary: fc.nat({ max: 5 }), weight: 3 });
const agent = fc.constantFrom(...agents);
const session = fc.constantFrom(...sessions);
/** Some waits are over before their call's deadline, some after it. */
const waitS = fc.constantFrom(0, 1, 2);
const deadlineS = fc.constantFrom(1, 30, 900);
const record = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }) => fc.record(model, { noNullPrototype: true });
const fixed = <const T>(value: T) => fc.constant(value);

const call = record({ do: fixed("call"), from: agent, to: agent, session, waitS, deadlineS });

/** Everything else, each with how often it happens beside others. */
const kinds: { arbitrary: fc.Arbitrary<Action>; weight: number }[] = [
  {
    weight: 4,
    arbitrary: record({
      do: fixed("reply"),
      call: pick,
      by: fc.constantFrom("the receiver", "the receiver", "a stranger"),
    }),
  },
  { weight: 2, arbitrary: record({ do: fixed("cancel call"), call: pick }) },
  { weight: 1, arbitrary: record({ do: fixed("look at a call"), call: pick }) },
  {
    weight: 5,
    arbitrary: record({
      do: fixed("receive"),
      agent: fc.constantFrom(...inboxAgents),
      limit: fc.constantFrom(1, 2, 10),
      ack: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: record({
      do: fixed("assign"),
      session,
      executors: fc.array(agent, { minLength: 1, maxLength: 3 }),
      waitS,
      deadlineS,
    }),
  },
  {
    weight: 3,
    arbitrary: record({
      do: fixed("update"),
      task: pick,
      status: fc.constantFrom("running", "done", "failed", "rejected"),
      by: fc.constantFrom("the executor", "the executor", "a stranger"),
    }),
  },
  { weight: 1, arbitrary: record({ do: fixed("cancel task"), task: pick }) },
  {
    weight: 3,
    // To the edges of waits, deadlines, circuits and leases, and over them.
    arbitrary: record({ do: fixed("time passes"), seconds: fc.constantFrom(1, 2, 29, 31, 61, 300) }),
  },
  { weight: 2, arbitrary: record({ do: fixed("sweep") }) },
  { weight: 4, arbitrary: record({ do: fixed("deliver"), wakeUp: pick }) },
  { weight: 2, arbitrary: record({ do: fixed("deliver all") }) },
  { weight: 1, arbitrary: record({ do: fixed("lose a wake-up"), wakeUp: pick }) },
  { weight: 1, arbitrary: record({ do: fixed("double a wake-up"), wakeUp: pick }) },
  {
    weight: 1,
    arbitrary: record({
      do: fixed("webhook changes"),
      agent: fc.constantFrom(...webhookAgents),
      how: fc.constantFrom("answers", "accepts", "fails", "refuses"),
    }),
  },
];

/** Calls and some of the other kinds: few kinds reach what many together hardly ever do. */
export const withSomeKinds = <T>(build: (action: fc.Arbitrary<Action>) => fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.subarray(kinds, { minLength: 4 }).chain((chosen) => build(fc.oneof({ arbitrary: call, weight: 6 }, ...chosen)));

/** Sequences that chance hardly finds. */
export const rarities: Action[][] = [
  // The last of five leases is over, and so is the deadline, before anybody looks.
  [
    { do: "call", from: "lead", to: "ann", session: "s1", waitS: 0, deadlineS: 1_400 },
    ...Array.from({ length: 5 }, (): Action[] => [
      { do: "receive", agent: "ann", limit: 1, ack: false },
      { do: "time passes", seconds: 300 },
    ]).flat(),
    { do: "receive", agent: "ann", limit: 1, ack: false },
  ],
  // The last of five leases is over, before the deadline.
  [
    { do: "call", from: "lead", to: "ann", session: "s1", waitS: 0, deadlineS: 2_000 },
    { do: "assign", session: "s1", executors: ["ann"], waitS: 0, deadlineS: 2_000 },
    ...Array.from({ length: 6 }, (): Action[] => [
      { do: "receive", agent: "ann", limit: 2, ack: false },
      { do: "time passes", seconds: 300 },
    ]).flat(),
  ],
  // Nested as deep as it goes.
  [
    ...Array.from({ length: 4 }, (): Action[] => [
      { do: "call", from: "lead", to: "ann", session: "s1", waitS: 0, deadlineS: 900 },
      { do: "call", from: "ann", to: "bob", session: "s1", waitS: 0, deadlineS: 900 },
      { do: "call", from: "bob", to: "lead", session: "s1", waitS: 0, deadlineS: 900 },
    ]).flat(),
  ],
];

const receiveAll = inboxAgents.map((agent) => ({ do: "receive", agent, limit: 10, ack: true }) as const);

/** What brings every message to its webhook that still counts by the clock, however many wake-ups were lost. */
export const reaching: readonly Action[] = [
  ...webhookAgents.map((agent) => ({ do: "webhook changes", agent, how: "answers" }) as const),
  { do: "time passes", seconds: 61 }, // Beyond what holds back deliveries, and to where sweep looks again.
  { do: "sweep" },
  { do: "deliver all" },
];

/** What brings every message to its end: time beyond every deadline and lease, twice, since ends make notices. */
export const ending: readonly Action[] = [
  ...[1_000, 100].flatMap((seconds): Action[] => [
    { do: "time passes", seconds },
    { do: "sweep" },
    { do: "deliver all" },
    ...receiveAll,
  ]),
  ...receiveAll,
];
