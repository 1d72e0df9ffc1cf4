import type * as z from "zod";
import { mustExist } from "../_delivery/agents.ts";
import { ToolError } from "../_runtime/errors.ts";
import { limits } from "../_runtime/limits.ts";
import { type Agent, parseAgent } from "../_table/agents.ts";
import { countTodos, type InboxItem, isTodo, readGroup } from "../_table/inbox.ts";
import { agentProfile, fold, sessionDigest, session as sessionKey } from "../_table/keys.ts";
import { assertSessionUser, parseSession, type Session } from "../_table/sessions.ts";
import { getAll } from "../_table/table.ts";
import type { contract } from "./contract.ts";

type Input = z.output<typeof contract.input>;

/** What the rules need to know. */
export interface Situation {
  sender: Agent;
  receiver: Agent;
  session: Session | undefined;
  /** The sender's own open messages in this session: whom it is answering, and how deep it is in a chain. */
  senderItems: InboxItem[];
  /** How many todos the receiver has in it; 0 in a session that is too young for too many. */
  receiverOpen: number;
}

/**
 * Reads all of it, strongly consistent.
 * @throws {ToolError} SENDER_NOT_FOUND, RECEIVER_NOT_FOUND, SESSION_USER_MISMATCH
 */
export async function readSituation(workspace: string, input: Input): Promise<Situation> {
  const at = sessionDigest(input.session_id);
  const agents = [agentProfile(workspace, input.sender), agentProfile(workspace, input.receiver)];
  const [[senderItem, receiverItem, sessionItem], senderItems] = await Promise.all([
    getAll([...agents, sessionKey(workspace, input.session_id)]),
    readGroup(workspace, input.sender, at),
  ]);
  const sender = await mustExist(workspace, parseAgent(senderItem), input.sender, "SENDER_NOT_FOUND");
  const receiver = await mustExist(workspace, parseAgent(receiverItem), input.receiver, "RECEIVER_NOT_FOUND");
  const session = parseSession(sessionItem);
  assertSessionUser(session, input.user_name);
  // Nobody has more open than the session ever had messages, so a young session needs no counting.
  const isYoung = (session?.seq ?? 0) < limits.inboxItemsPerSession;
  const receiverOpen = isYoung ? 0 : await countTodos(workspace, receiver.name, at);
  return { sender, receiver, session, senderItems, receiverOpen };
}

/**
 * Who may call whom (design, section 5.2), as far as one reading tells; rings and budgets are settled when the
 * call reserves its place in the session.
 * @throws {ToolError} SELF_CALL, MASTER_NOT_CALLABLE, CURRENT_CONVERSATION, CALL_DEPTH, INBOX_FULL
 */
export function assertMayCall({ sender, receiver, senderItems, receiverOpen }: Situation, input: Input): void {
  if (sender.name === receiver.name) throw new ToolError("SELF_CALL", `${sender.name} is both sender and receiver.`);
  if (receiver.role === "master") {
    throw new ToolError("MASTER_NOT_CALLABLE", `${receiver.name} is a master and can't be called.`, {
      hint: `Put what ${receiver.name} should know into your own reply.`,
    });
  }
  const current = openCalls(senderItems).find((item) => fold(item.sender) === fold(receiver.name));
  if (current !== undefined) {
    throw new ToolError(
      "CURRENT_CONVERSATION",
      `${receiver.name} has called you in session '${input.session_id}' and waits for your answer.`,
      {
        hint: `Reply to ${receiver.name} directly (reply_call with call_id ${current.id}).`,
        details: { call_id: current.id },
      },
    );
  }
  if (chainDepth(senderItems) >= limits.callDepth) {
    throw new ToolError(
      "CALL_DEPTH",
      `This call would be number ${limits.callDepth + 1} in a chain; at most ${limits.callDepth} are nested.`,
    );
  }
  if (receiverOpen >= limits.inboxItemsPerSession) {
    throw new ToolError(
      "INBOX_FULL",
      `${receiver.name} has ${limits.inboxItemsPerSession} open messages in this session.`,
      { retryAfterS: 5 },
    );
  }
}

/** Calls that an agent has not answered. */
const openCalls = (items: readonly InboxItem[]) =>
  items.filter((item) => item.kind === "call" && isTodo(item, Date.now()));

/** How deep in a chain of calls the sender works: the server keeps it, so an agent can't reset it. */
export const chainDepth = (senderItems: readonly InboxItem[]) =>
  Math.max(0, ...openCalls(senderItems).map(({ depth }) => depth));
