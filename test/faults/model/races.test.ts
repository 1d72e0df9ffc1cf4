import { setTimeout as sleep } from "node:timers/promises";
import fc, { type Scheduler } from "fast-check";
import { afterAll, expect, test, vi } from "vitest";
import { intercept } from "../../delivery/intercept.ts";
import { startTestSystem } from "../../system.ts";
import { type Action, ending, reaching, withSomeKinds } from "./actions.ts";
import { Audit } from "./audit.ts";
import { meetings } from "./meetings.ts";
import { deliveryAttempts } from "./model.ts";
import { Stage } from "./stage.ts";
import { runFor } from "./time_limit.ts";
import { unnoticed, type World } from "./world.ts";

const system = await startTestSystem({ CALLS_PER_PAIR_MINUTE: "1000", DELIVERY_ATTEMPTS: String(deliveryAttempts) });
const stage = await Stage.build(system);
afterAll(async () => {
  vi.useRealTimers();
  await system.stop();
});

/**
 * What is slow in a race: answers, requests, or above all transactions, which the other requests overtake. With
 * requests that come late, a writer's clock may be behind a reader's, as it may be in a network.
 */
const slownesses = ["answers", "requests", "transactions"] as const;
type Slow = (typeof slownesses)[number];

const overtakenMs = 30;

/** While a race is on: decides in which order the requests to the table, or their answers, arrive. */
let race: { by: Scheduler; slow: Slow } | undefined;

await intercept("dynamodb", async ({ name, send }) => {
  if (race === undefined || unnoticed.getStore()) return send();
  const { by, slow } = race;
  if (slow === "answers") return held(by, name, send());
  if (slow === "transactions" && name.startsWith("TransactWrite")) await sleep(overtakenMs);
  if (race === undefined) return send(); // It is over meanwhile.
  await by.schedule(Promise.resolve(), name);
  return send();
});

/** Keeps an answer, or a refusal, until the scheduler draws it. */
async function held<T>(by: Scheduler, name: string, answer: Promise<T>): Promise<T> {
  const kept = answer.then(
    (value) => () => value,
    (error: unknown) => () => {
      throw error;
    },
  );
  return (await by.schedule(kept, name))();
}

/** An action in a race, which begins after as many steps of its own. */
interface Entry {
  action: Action;
  after: number;
}

const longestPauseMs = 5;

/** Performs actions at once, one request after another in the order that the scheduler draws. */
async function performAtOnce(world: World, entries: readonly Entry[], by: Scheduler, slow: Slow) {
  let running = entries.length;
  race = { by, slow };
  world.turn = () => by.schedule(Promise.resolve(), "turn");
  const all = entries.map(async ({ action, after }) => {
    for (let step = 0; step < after; step++) await world.turn();
    const result = await world.perform(action);
    running--;
    return [action, result] as const;
  });
  // Draws only when each has something to draw from, as far as it has: some steps take other ways than the table.
  const done = await by.waitFor(Promise.all(all), async (draw) => {
    const latest = performance.now() + longestPauseMs;
    while (by.count() < running && performance.now() < latest) await sleep(1);
    await draw();
  });
  race = undefined;
  world.turn = async () => {};
  await by.waitAll();
  return done;
}

/** Each burst at once, one burst after another. */
async function run(bursts: readonly (readonly Entry[])[], by: Scheduler, slow: Slow): Promise<void> {
  const world = await stage.open();
  const audit = new Audit(world);
  try {
    for (const burst of bursts) {
      const drawn = burst.filter(({ action }) => slow === "answers" || action.do !== "look at a call");
      const entries = drawn.flatMap(({ action, after }) =>
        world.tamed(action).map((tame) => ({ action: tame, after })),
      );
      const done = await performAtOnce(world, entries, by, slow);
      await world.settle();
      await audit.step(done);
    }
    await performAll(world, reaching);
    audit.expectReached();
    await performAll(world, ending);
    await audit.step([]);
    audit.expectEnd();
  } finally {
    await world.close();
  }
}

async function performAll(world: World, actions: readonly Action[]): Promise<void> {
  for (const action of actions) await world.perform(action);
  await world.settle();
}

const slow = fc.constantFrom(...slownesses);
/** A tool takes about ten steps. */
const after = fc.nat({ max: 12 });

test.each(Object.entries(meetings))("%s", { timeout: 120_000 }, async (_, { before, atOnce }) => {
  const first = before.map((action) => [{ action, after: 0 }]);
  const entries = fc.tuple(...atOnce.map((action) => fc.record({ action: fc.constant(action), after })));
  await fc.assert(
    fc.asyncProperty(entries, fc.scheduler(), slow, (meeting, ...how) => run([...first, meeting], ...how)),
    { numRuns: 10 },
  );
});

test("whatever happens at once, in whatever order the table answers, the rules hold", {
  timeout: 600_000,
}, async () => {
  const bursts = withSomeKinds((action) =>
    fc.array(fc.array(fc.record({ action, after }), { minLength: 1, maxLength: 3 }), { maxLength: 30, size: "max" }),
  );
  const runs = await runFor(fc.tuple(bursts, fc.scheduler(), slow), 10, (drawn) => run(...drawn));
  expect(runs).toBeGreaterThanOrEqual(10);
});
