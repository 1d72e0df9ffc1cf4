import * as z from "zod";
import { closeMessage } from "../../_delivery/close.ts";
import { sendWakeUps } from "../../_delivery/wake_up.ts";
import { type Log, logFor } from "../../_runtime/log.ts";
import { together } from "../../_runtime/together.ts";
import { sweepSchedules } from "../../_schedules/repair.ts";
import { readAgent } from "../../_table/agents.ts";
import { type InboxItem, isAccepted, readInboxItem } from "../../_table/inbox.ts";
import { dueShards } from "../../_table/keys.ts";
import { dueHeads, type Head, isOpen, lookAgainAt, overdueReason } from "../../_table/messages.ts";
import { sweepApprovals } from "./approvals.ts";

const order = z.object({
  /** Treat what is due within the next N seconds as due: for a queue that was lost, as after a restart. */
  ahead_s: z.number().min(0).default(0),
});

/**
 * Looks at every open message that is due: ends what is past its deadline (it had ended for every reader
 * already) and sends missing wake-ups again; moves approvals on; and looks at every schedule of which something is
 * under way. All its writes are conditional, so it may race with anything.
 */
export async function handler(event: unknown): Promise<void> {
  const { ahead_s } = order.parse(event ?? {});
  const log = logFor({ worker: "sweep" });
  const untilMs = Date.now() + ahead_s * 1000;
  const shards = Array.from({ length: dueShards }, (_, shard) => sweepShard(shard, untilMs, log));
  const swept = await together([...shards, sweepApprovals(untilMs, log), sweepSchedules(untilMs, log)]);
  log.info("swept", { looked_at: swept.reduce((sum, count) => sum + count, 0) });
}

async function sweepShard(shard: number, untilMs: number, log: Log): Promise<number> {
  let looked = 0;
  for await (const { workspace, record } of dueHeads(shard, untilMs)) {
    await look(workspace, record, untilMs).catch((error: Error) =>
      log.error("could not look at a message; the next sweep does", { error, message_id: record.id }),
    );
    looked += 1;
  }
  return looked;
}

/** What the receiver has taken rests until its deadline, or until its lease runs out. */
const restsUntil = ({ claimed_until, deadline_at }: InboxItem, now: number) =>
  claimed_until > now ? Math.min(claimed_until, deadline_at) : deadline_at;

const wakeUpEveryMs = 60_000;

async function look(workspace: string, head: Head, untilMs: number): Promise<void> {
  const now = Date.now();
  // The index lags: what is closed by now needs nothing.
  const item = isOpen(head) ? await readInboxItem(workspace, head) : undefined;
  if (item === undefined || item.id !== head.id) return;
  if (item.deadline_at <= now) {
    const end = { status: "timed_out", reason: overdueReason(item), when: "after deadline" } as const;
    await closeMessage(workspace, item, end);
    return;
  }
  if (isAccepted(item, now)) return lookAgainAt(workspace, head.id, restsUntil(item, now));
  const receiver = await readAgent(workspace, item.receiver);
  if (receiver?.delivery === "inbox") return lookAgainAt(workspace, head.id, item.deadline_at);
  const notBefore = Math.max(item.claimed_until, item.next_attempt_at, receiver?.circuit_open_until ?? 0);
  // Its wake-up is in the queue, hidden until then; a queue that was lost holds none.
  if (notBefore > untilMs)
    return lookAgainAt(workspace, head.id, Math.min(notBefore + wakeUpEveryMs, item.deadline_at));
  // Whole minutes as generation: two sweeps at once send the same wake-up, and SQS drops one.
  await sendWakeUps(workspace, [item], Math.floor(now / wakeUpEveryMs));
  await lookAgainAt(workspace, head.id, Math.min(now + wakeUpEveryMs, item.deadline_at));
}
