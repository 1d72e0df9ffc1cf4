import type * as z from "zod";
import { mustExist } from "../_delivery/agents.ts";
import { closeMessage } from "../_delivery/close.ts";
import { ToolError } from "../_runtime/errors.ts";
import { type Context, serve } from "../_runtime/serve.ts";
import { waitFor } from "../_runtime/time.ts";
import { together } from "../_runtime/together.ts";
import type { Agent } from "../_table/agents.ts";
import { effectOfWinner } from "../_table/idempotency.ts";
import { type InboxItem, readAgentAndInbox } from "../_table/inbox.ts";
import { noteSeen } from "../_table/receivers.ts";
import { acknowledge, leased, renew } from "./closing.ts";
import { contract } from "./contract.ts";
import { available, isExhausted, type Leased, leasedBefore, leaseFitting } from "./lease.ts";

type Input = z.output<typeof contract.input>;

export const handler = serve(contract, async (input, context) => {
  const { workspace } = context;
  const { agent, items } = await readInbox(workspace, input);
  let known = isUnchangedBy(input, context) ? items : undefined;
  if (context.repeat?.effect === undefined) {
    const renewed = leased(items, input.renew);
    await acknowledge(workspace, agent, items, input.ack);
    await renew(workspace, renewed);
  }
  await noteSeen(workspace, agent, Date.now());
  const messages = await waitFor(context.wait.until, () => {
    const first = known;
    known = undefined;
    return lease(context, input, first);
  });
  return { agent_name: agent.name, messages: messages ?? [] };
});

/** What was read is also good for the first look: nothing of it was closed or renewed since, by us or by a first request. */
const isUnchangedBy = ({ ack, renew }: Input, { repeat }: Context) =>
  ack.length === 0 && renew.length === 0 && repeat === undefined;

async function readInbox(workspace: string, { agent_name }: Input): Promise<{ agent: Agent; items: InboxItem[] }> {
  const { agent, items } = await readAgentAndInbox(workspace, agent_name);
  const found = await mustExist(workspace, agent, agent_name, "AGENT_NOT_FOUND");
  if (found.delivery === "inbox") return { agent: found, items };
  throw new ToolError("NOT_AN_INBOX_AGENT", `${found.name} gets its messages by webhook.`);
}

/** Undefined when there is nothing to receive yet. @param known the inbox, if it was read just now */
async function lease(context: Context, input: Input, known?: InboxItem[]): Promise<Leased[] | undefined> {
  const { workspace, repeat } = context;
  // Looked at in this order: what the first request leased is on the items that are read after its effect.
  const before = await effectOfWinner(repeat);
  const items = known ?? (await readInbox(workspace, input)).items;
  if (before !== undefined) return leasedBefore(workspace, items, before);
  const ofSession = items.filter(({ session_id }) => input.session_id === "" || session_id === input.session_id);
  const now = Date.now();
  await together(ofSession.filter((item) => isExhausted(item, now)).map((item) => giveUp(workspace, item)));
  const free = available(ofSession, now).slice(0, input.limit);
  const messages = await leaseFitting(workspace, free, repeat);
  if (messages.length > 0) return messages;
  // Others were first, perhaps with this very request: there may be something for it all the same.
  return free.length > 0 ? lease(context, input) : undefined;
}

const giveUp = (workspace: string, item: InboxItem) =>
  closeMessage(workspace, item, {
    status: "failed",
    reason: "It was leased five times and never answered.",
    when: "before deadline",
    unlessTaken: true,
  });
