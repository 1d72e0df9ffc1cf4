import * as z from "zod";
import { assertTarget, TargetRefused } from "../_delivery/targets.ts";
import { sendWakeUps } from "../_delivery/wake_up.ts";
import { secretOverlapMs, webhookSecret } from "../_delivery/webhook_secret.ts";
import { ToolError } from "../_runtime/errors.ts";
import { isPlaceholder } from "../_runtime/input.ts";
import { type Context, serve } from "../_runtime/serve.ts";
import { together } from "../_runtime/together.ts";
import { type Agent, isAgentName, registerAgentWrite } from "../_table/agents.ts";
import { effectOfWinner, rememberWrites } from "../_table/idempotency.ts";
import { type InboxItem, isAccepted, readAgentAndInbox } from "../_table/inbox.ts";
import { lookAgainAt } from "../_table/messages.ts";
import { ConditionFailed, transact } from "../_table/table.ts";
import { contract } from "./contract.ts";

type Input = z.output<typeof contract.input>;

/** What a registration did; kept under its Idempotency-Key, so that a repeat shows the secret again. */
const effect = z.object({
  created: z.boolean(),
  createdAt: z.number(),
  secretVersion: z.number(),
  showSecret: z.boolean(),
});
type Effect = z.output<typeof effect>;

export const handler = serve(contract, async (input, context) => {
  const { workspace, repeat } = context;
  if (repeat?.effect !== undefined) return returns(workspace, input, effect.parse(JSON.parse(repeat.effect)));
  await assertValid(input);
  for (;;) {
    const { agent, items } = await readAgentAndInbox(workspace, input.agent_name);
    if (agent !== undefined && agent.name !== input.agent_name) {
      throw new ToolError(
        "AGENT_NAME_TAKEN",
        `The name is taken by '${agent.name}': upper and lower case count as the same.`,
        {
          hint: `Use '${agent.name}' to update that agent, or choose another name.`,
        },
      );
    }
    // Should this process die before the wake-ups below are sent, sweep finds what waits.
    if (agent?.delivery === "inbox" && input.delivery === "webhook") await sweepSoon(workspace, items);
    const done = await register(context, input, agent);
    if (done === undefined) continue; // Somebody registered it at the same moment: look again.
    if (agent !== undefined && input.delivery === "webhook") await wakeWaiting(workspace, items);
    return returns(workspace, input, done);
  }
});

async function assertValid(input: Input): Promise<void> {
  if (!isAgentName(input.agent_name)) {
    throw new ToolError("INVALID_INPUT", "agent_name: must be a letter followed by up to 63 letters, digits, _ or -.", {
      hint: "Put names in other scripts into display_name.",
    });
  }
  if (isPlaceholder(input.agent_name)) {
    throw new ToolError("INVALID_INPUT", `agent_name: is the placeholder '${input.agent_name}'; give the real name.`);
  }
  if ((input.delivery === "webhook") !== (input.webhook_url !== "")) {
    throw new ToolError("INVALID_INPUT", "webhook_url: belongs to delivery 'webhook', and only there.", {
      hint: "Give both delivery 'webhook' and webhook_url, or neither.",
    });
  }
  if (input.delivery !== "webhook") return;
  try {
    await assertTarget(input.webhook_url);
  } catch (error) {
    if (error instanceof TargetRefused) throw new ToolError("WEBHOOK_REFUSED", error.message);
    throw error;
  }
}

/** Undefined when the profile is no longer as it was read. */
async function register(
  { workspace, repeat }: Context,
  input: Input,
  before: Agent | undefined,
): Promise<Effect | undefined> {
  const created = before === undefined;
  const rotated = !created && input.rotate_secret;
  const now = Date.now();
  const profile = {
    name: input.agent_name,
    display_name: input.display_name,
    role: input.role,
    skills: input.skills,
    delivery: input.delivery,
    webhook_url: input.webhook_url,
    answer_timeout_s: input.answer_timeout_s,
    secret_version: (before?.secret_version ?? 1) + (rotated ? 1 : 0),
    secret_overlap_until: rotated ? now + secretOverlapMs : (before?.secret_overlap_until ?? 0),
    created_at: before?.created_at ?? now,
  };
  const { created_at: createdAt, secret_version: secretVersion } = profile;
  const done: Effect = { created, createdAt, secretVersion, showSecret: created || rotated };
  try {
    await transact([
      registerAgentWrite(workspace, profile, before?.secret_version),
      ...rememberWrites(repeat, JSON.stringify(done)),
    ]);
    return done;
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    const winner = await effectOfWinner(repeat);
    return winner === undefined ? undefined : effect.parse(JSON.parse(winner));
  }
}

const sweepSoonMs = 60_000;

async function sweepSoon(workspace: string, items: readonly InboxItem[]): Promise<void> {
  await together(items.map(({ id }) => lookAgainAt(workspace, id, Date.now() + sweepSoonMs)));
}

/**
 * An agent that is called by webhook from now on: what waited in its inbox gets its wake-ups; what is on lease
 * gets them from sweep, should the lease run out.
 */
async function wakeWaiting(workspace: string, items: readonly InboxItem[]): Promise<void> {
  const now = Date.now();
  const [taken, waiting] = [true, false].map((is) => items.filter((item) => isAccepted(item, now) === is));
  await sendWakeUps(workspace, waiting ?? [], now);
  const onLease = taken?.filter(({ claimed_until }) => claimed_until > now) ?? [];
  await together(onLease.map(({ id, claimed_until }) => lookAgainAt(workspace, id, claimed_until)));
}

async function returns(workspace: string, input: Input, { created, createdAt, secretVersion, showSecret }: Effect) {
  const { rotate_secret: _, ...same } = input;
  const webhook_secret = showSecret
    ? await webhookSecret(workspace, { name: input.agent_name, created_at: createdAt }, secretVersion)
    : "";
  return { ...same, webhook_secret, secret_version: secretVersion, created };
}
