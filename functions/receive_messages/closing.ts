import { closeMessage } from "../_delivery/close.ts";
import { ToolError } from "../_runtime/errors.ts";
import { limits } from "../_runtime/limits.ts";
import { together } from "../_runtime/together.ts";
import type { Agent } from "../_table/agents.ts";
import { type InboxItem, itemUpdate } from "../_table/inbox.ts";
import { fold, parseId } from "../_table/keys.ts";
import { readHead } from "../_table/messages.ts";
import { ConditionFailed, update } from "../_table/table.ts";

/**
 * Closes notices that were read. All ids are checked before any is closed; one that is closed already is fine,
 * so that a request can be repeated.
 * @throws {ToolError} MESSAGE_NOT_FOUND, NOT_A_NOTICE
 */
export async function acknowledge(
  workspace: string,
  agent: Agent,
  items: readonly InboxItem[],
  ids: readonly string[],
): Promise<void> {
  const open = new Map(items.map((item) => [item.id, item]));
  const found = ids.map((id) => open.get(id));
  for (const [index, id] of ids.entries()) {
    const item = found[index];
    if (item === undefined) await assertWasHere(workspace, agent, id);
    else if (item.about === undefined)
      throw new ToolError("NOT_A_NOTICE", `ack: ${id} is a ${item.kind} and wants an answer.`);
  }
  const notices = found.filter((item) => item !== undefined);
  await together(notices.map((item) => closeMessage(workspace, item, { status: "told", when: "any time" })));
}

async function assertWasHere(workspace: string, agent: Agent, id: string): Promise<void> {
  const kind = parseId(id)?.kind;
  const head = kind === "note" ? await readHead(workspace, id, kind) : undefined;
  if (head !== undefined && fold(head.receiver) === fold(agent.name)) return;
  throw new ToolError("MESSAGE_NOT_FOUND", `ack: ${agent.name} has no message '${[...id].slice(0, 80).join("")}'.`);
}

/** The messages whose leases are to be renewed. @throws {ToolError} MESSAGE_NOT_FOUND, LEASE_LOST */
export function leased(items: readonly InboxItem[], ids: readonly string[]): InboxItem[] {
  const open = new Map(items.map((item) => [item.id, item]));
  return ids.map((id) => {
    const item = open.get(id);
    if (item === undefined)
      throw new ToolError("MESSAGE_NOT_FOUND", `renew: no open message '${[...id].slice(0, 80).join("")}'.`);
    if (item.claimed_until <= Date.now()) throw leaseLost(item);
    return item;
  });
}

const leaseLost = ({ id }: InboxItem) => new ToolError("LEASE_LOST", `renew: the lease of ${id} is over.`);

/** Makes leases last five minutes from now. @throws {ToolError} LEASE_LOST */
export async function renew(workspace: string, items: readonly InboxItem[]): Promise<void> {
  for (const item of items) await renewOne(workspace, item);
}

async function renewOne(workspace: string, item: InboxItem): Promise<void> {
  const now = Date.now();
  const change = {
    set: { claimed_until: now + limits.leaseMs },
    condition: "#claimed_until > :now",
    values: { ":now": now },
  };
  try {
    await update(itemUpdate(workspace, item, change));
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    throw leaseLost(item);
  }
}
