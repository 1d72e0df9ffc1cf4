import fc from "fast-check";
import { afterAll, expect, test, vi } from "vitest";
import { startTestSystem } from "../../system.ts";
import { type Action, ending, rarities, reaching, withSomeKinds } from "./actions.ts";
import { Audit } from "./audit.ts";
import { deliveryAttempts, Model } from "./model.ts";
import { Stage } from "./stage.ts";
import { runFor } from "./time_limit.ts";
import { isSilent, type World } from "./world.ts";

const system = await startTestSystem({ CALLS_PER_PAIR_MINUTE: "1000", DELIVERY_ATTEMPTS: String(deliveryAttempts) });
const stage = await Stage.build(system);
afterAll(async () => {
  vi.useRealTimers();
  await system.stop();
});

async function run(actions: readonly Action[]): Promise<void> {
  const world = await stage.open();
  try {
    await follow(world, actions);
  } finally {
    await world.close();
  }
}

async function follow(world: World, actions: readonly Action[]): Promise<void> {
  const model = new Model();
  const audit = new Audit(world);
  const perform = async (all: readonly Action[]) => {
    for (const drawn of all) for (const action of world.tamed(drawn)) await step(world, model, audit, action);
  };
  await perform(actions);
  await perform(reaching);
  audit.expectReached();
  await perform(ending);
  audit.expectEnd();
}

async function step(world: World, model: Model, audit: Audit, action: Action): Promise<void> {
  const before = world.got.length;
  const result = await world.perform(action);
  if (isSilent(action, result)) return;
  await world.settle();
  const keyOf = (id: string) => world.sight.byId.get(id)?.key ?? "";
  const got = world.got.slice(before).map((each) => ({ ...each, key: keyOf(each.id) }));
  model.after(action, { ...result, acked: result.acked?.map(keyOf) }, got);
  model.expectToBeAs(world);
  await audit.step([[action, result]]);
}

const examples = rarities.map((actions): [Action[]] => [actions]);

test("whatever happens one after another, the system is as the model says", { timeout: 600_000 }, async () => {
  const sequences = withSomeKinds((action) => fc.array(action, { maxLength: 80, size: "max" }));
  const runs = await runFor(sequences, 15, run, { examples });
  expect(runs).toBeGreaterThanOrEqual(15);
});
