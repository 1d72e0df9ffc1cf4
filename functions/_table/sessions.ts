import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { env } from "../_runtime/env.ts";
import { ToolError } from "../_runtime/errors.ts";
import { logFor } from "../_runtime/log.ts";
import { Expression } from "./expression.ts";
import { fold, session as sessionKey } from "./keys.ts";
import { ConditionFailed, get, type Item, retention, update } from "./table.ts";
import { edgeUntil, formatEdge, reachable, ringOf, type WaitEdge, type WaitEdges } from "./wait_edges.ts";

/**
 * A conversation. Beside these fields it holds one string set `w_<agent>` for each agent that waits: its
 * wait edges. What a call reserves here is one plain conditional update (design, section 5.2).
 */
const session = z.object({
  session_id: z.string(),
  user_name: z.string(),
  seq: z.number(),
  calls: z.number().default(0),
  /** Calls of each pair of agents in `minute`, for the budget per pair and minute. */
  minute: z.number().default(0),
  rate: z.record(z.string(), z.number()).default({}),
});

export interface Session extends z.output<typeof session> {
  waits: WaitEdges;
}

export function parseSession(item: Item | undefined): Session | undefined {
  if (item === undefined) return undefined;
  const waits = Object.entries(item).filter(([name]) => name.startsWith("w_"));
  return {
    ...session.parse(item),
    waits: new Map(waits.map(([name, edges]) => [name.slice(2), z.set(z.string()).parse(edges)])),
  };
}

export async function readSession(workspace: string, sessionId: string): Promise<Session | undefined> {
  return parseSession(await get(sessionKey(workspace, sessionId)));
}

/** @throws {ToolError} SESSION_USER_MISMATCH */
export function assertSessionUser(found: Session | undefined, userName: string): void {
  if (found === undefined || found.user_name === userName) return;
  throw new ToolError("SESSION_USER_MISMATCH", `Session '${found.session_id}' belongs to another user.`);
}

interface Reservation {
  workspace: string;
  sessionId: string;
  userName: string;
  sender: string;
  receiver: string;
  /** The edge to add; undefined when the sender does not wait. */
  edge: WaitEdge | undefined;
}

/** What one reservation took: the message's place in the session, and the calls still left in its budget. */
export interface Reserved {
  seq: number;
  budgetRemaining: number;
}

const patienceMs = 2_000;

/**
 * Takes a sequence number, one call of the budgets, and adds the wait edge, all in one conditional update:
 * its condition states what the ring check read (the outgoing edges of the agents reachable from the
 * receiver), so that of two calls that would close a ring together only one gets through, while calls that
 * have nothing to do with each other do not collide.
 * @param found the session as it was read, strongly consistent
 * @throws {ToolError} CALL_CYCLE, CALL_BUDGET, SESSION_USER_MISMATCH, SESSION_BUSY
 */
export async function reserveCall(reservation: Reservation, found: Session | undefined): Promise<Reserved> {
  try {
    return await reserve(reservation, found);
  } catch (error) {
    if (!(error instanceof ToolError && error.type === "CALL_CYCLE")) throw error;
    // An agent that has just answered may call back before the edge of that wait is released.
    await sleep(edgeReleaseMs);
    return reserve(reservation, await readSession(reservation.workspace, reservation.sessionId));
  }
}

const edgeReleaseMs = 100;

async function reserve(reservation: Reservation, found: Session | undefined): Promise<Reserved> {
  const giveUpAt = Date.now() + patienceMs;
  for (let seen = found, attempt = 1; ; attempt++) {
    assertSessionUser(seen, reservation.userName);
    const nowMs = Date.now();
    try {
      const after = session.parse(await update(reservationUpdate(reservation, seen, nowMs)));
      return { seq: after.seq, budgetRemaining: Math.max(0, env().CALLS_PER_SESSION - after.calls) };
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
      if (nowMs > giveUpAt) {
        throw new ToolError("SESSION_BUSY", "The session changed under this call for two seconds.", { retryAfterS: 1 });
      }
      seen = parseSession(error.item);
      await sleep(Math.random() * Math.min(100, 5 * 2 ** attempt));
    }
  }
}

function reservationUpdate(reservation: Reservation, seen: Session | undefined, nowMs: number) {
  const { workspace, sessionId, userName, sender, edge } = reservation;
  const expression = new Expression();
  expression.set("#session_id = :id, #user_name = :user, #ttl = :ttl, #created_at = if_not_exists(#created_at, :now)");
  expression.value({ ":id": sessionId, ":user": userName, ":ttl": retention(nowMs), ":now": nowMs });
  expression.condition("(attribute_not_exists(#user_name) OR #user_name = :user)");
  expression.add("#seq :one, #calls :one").value({ ":one": 1 });
  chargeBudgets(expression, reservation, seen, nowMs);
  if (edge !== undefined) {
    guardRing(expression, reservation, seen, nowMs);
    expression
      .add("#sender :edge")
      .name("#sender", `w_${fold(sender)}`)
      .value({ ":edge": new Set([formatEdge(edge)]) });
  }
  return expression.toUpdate(sessionKey(workspace, sessionId));
}

function chargeBudgets(
  expression: Expression,
  { sender, receiver }: Reservation,
  seen: Session | undefined,
  nowMs: number,
) {
  const { CALLS_PER_SESSION, CALLS_PER_PAIR_MINUTE } = env();
  const minute = Math.max(Math.floor(nowMs / 60_000), seen?.minute ?? 0);
  const pair = [fold(sender), fold(receiver)].sort().join(" ");
  if ((seen?.calls ?? 0) >= CALLS_PER_SESSION) {
    throw new ToolError("CALL_BUDGET", `This session has used up its ${CALLS_PER_SESSION} calls.`);
  }
  if (seen?.minute === minute && (seen.rate[pair] ?? 0) >= CALLS_PER_PAIR_MINUTE) {
    const message = `${sender} and ${receiver} have called each other ${CALLS_PER_PAIR_MINUTE} times in this minute.`;
    throw new ToolError("CALL_BUDGET", message, {
      retryAfterS: Math.min(60, Math.max(1, Math.ceil(((minute + 1) * 60_000 - nowMs) / 1000))),
    });
  }
  expression.condition("(attribute_not_exists(#calls) OR #calls < :calls)").value({ ":calls": CALLS_PER_SESSION });
  if (seen?.minute === minute) {
    expression.condition("#minute = :minute AND (attribute_not_exists(#rate.#pair) OR #rate.#pair < :pairCalls)");
    expression.set("#rate.#pair = if_not_exists(#rate.#pair, :zero) + :one").name("#pair", pair);
    expression.value({ ":minute": minute, ":pairCalls": CALLS_PER_PAIR_MINUTE, ":zero": 0 });
  } else {
    // A new minute: the counts start over. Only the first call of a minute meets this condition.
    expression.condition("(attribute_not_exists(#minute) OR #minute < :minute)");
    expression.set("#minute = :minute, #rate = :rate").value({ ":minute": minute, ":rate": { [pair]: 1 } });
  }
}

/** Each agent is a term of the condition, and DynamoDB reads 4 KB of it. */
const mostGuarded = 100;

function guardRing(
  expression: Expression,
  { sender, receiver }: Reservation,
  seen: Session | undefined,
  nowMs: number,
) {
  const cameFrom = reachable(seen?.waits ?? new Map(), fold(receiver), nowMs);
  if (cameFrom.has(fold(sender))) {
    const ring = ringOf(cameFrom, fold(sender));
    throw new ToolError("CALL_CYCLE", `Waiting would close a ring: ${ring.join(" → ")}.`, { details: { ring } });
  }
  if (cameFrom.size > mostGuarded) {
    throw new ToolError(
      "SESSION_BUSY",
      `${receiver} waits, also through others, for more than ${mostGuarded} agents.`,
      {
        hint: "Call again in half a minute, or now with 'Prefer: respond-async'.",
        retryAfterS: 30,
      },
    );
  }
  [...cameFrom.keys()].forEach((agent, index) => {
    const edges = seen?.waits.get(agent);
    expression.name(`#w${index}`, `w_${agent}`);
    expression.condition(edges === undefined ? `attribute_not_exists(#w${index})` : `#w${index} = :w${index}`);
    if (edges === undefined) return;
    expression.value({ [`:w${index}`]: edges });
    // Edges of waits that crashed are tidied up by whoever passes; the comparison above makes it safe.
    const over = [...edges].filter((edge) => edgeUntil(edge) <= nowMs);
    if (over.length > 0) expression.delete(`#w${index} :over${index}`).value({ [`:over${index}`]: new Set(over) });
  });
}

/** Takes the next `count` sequence numbers of a session for messages that are no calls; answers the first. */
export async function takeSequence(
  workspace: string,
  { sessionId, userName, count }: { sessionId: string; userName: string; count: number },
): Promise<number> {
  const nowMs = Date.now();
  const expression = new Expression();
  expression.set("#session_id = :id, #user_name = :user, #ttl = :ttl, #created_at = if_not_exists(#created_at, :now)");
  expression.value({ ":id": sessionId, ":user": userName, ":ttl": retention(nowMs), ":now": nowMs, ":count": count });
  expression.add("#seq :count").condition("(attribute_not_exists(#user_name) OR #user_name = :user)");
  try {
    const after = session.parse(await update(expression.toUpdate(sessionKey(workspace, sessionId))));
    return after.seq - count + 1;
  } catch (error) {
    if (error instanceof ConditionFailed) assertSessionUser(parseSession(error.item), userName);
    throw error;
  }
}

/** Ends a wait; where that fails, the edge ends by the clock, so it is no failure of what it belongs to. */
export async function releaseEdge(workspace: string, sessionId: string, sender: string, edge: WaitEdge): Promise<void> {
  const expression = new Expression();
  expression
    .delete("#sender :edge")
    .name("#sender", `w_${fold(sender)}`)
    .value({ ":edge": new Set([formatEdge(edge)]) });
  expression.condition("attribute_exists(PK)");
  try {
    await update({ ...expression.toUpdate(sessionKey(workspace, sessionId)), ReturnValues: "NONE" });
  } catch (error) {
    if (error instanceof ConditionFailed) return; // The session has expired, and the edge with it.
    logFor({ session_id: sessionId }).warn("wait edge not released; it ends by the clock", error as Error);
  }
}
