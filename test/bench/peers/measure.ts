import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { acts, byWebhook, unique } from "../../acts.ts";
import { content } from "../figures.ts";
import { inTurns, type Summary, summary } from "../statistics.ts";
import { startTarget } from "../target.ts";
import { startA2a } from "./a2a.ts";
import { startBullmq } from "./bullmq.ts";
import { installPackages, installRedis } from "./install.ts";

/** Somebody that can be asked, and replies. */
export interface Peer {
  ask(): Promise<void>;
  stop(): Promise<void>;
}

export interface PeerFigure {
  name: string;
  /** What holds of a message once it is acknowledged. */
  promises: string;
  time: Summary;
}

/** A round trip of the same text by ours and by others, in turns, each with what it promises. */
export async function measurePeers(rounds: number): Promise<PeerFigure[]> {
  const [folder, redis] = await Promise.all([installPackages(), installRedis()]);
  const peers: Peer[] = [];
  const started = async (peer: Promise<Peer>) => {
    peers.push(await peer);
    return peer;
  };
  try {
    const a2a = await started(startA2a(folder, content));
    const bullmq = await started(startBullmq(folder, redis, content));
    const ours = await started(startOurs());
    const times = await inTurns(rounds, { ours: ours.ask, a2a: a2a.ask, bullmq: bullmq.ask });
    return [
      {
        name: "Switchboard, call and reply by webhook, --data",
        promises:
          "kept on disk before it is acknowledged; in order in its group; once; who may call whom, budgets, deadlines, attempts kept",
        time: summary(times.ours),
      },
      {
        name: "A2A SDK, request and reply, in memory",
        promises: "none: a crash loses it, order and repeats are the caller's",
        time: summary(times.a2a),
      },
      {
        name: "BullMQ, add and wait, appendfsync always",
        promises: "kept on disk before it is acknowledged; at least once; in order with one worker",
        time: summary(times.bullmq),
      },
    ];
  } finally {
    for (const peer of peers.reverse()) await peer.stop();
  }
}

/** Ours on disk as well: `npm start -- --data DIR`. */
async function startOurs(): Promise<Peer> {
  const dir = mkdtempSync(join(tmpdir(), "switchboard-bench-"));
  const target = await startTarget("--data", dir);
  const { register, call } = acts(target.tool);
  const webhook = await target.webhookAgent(() => ({ body: { content } }));
  const [sender, receiver] = [await register("lead"), await register("writer", byWebhook(webhook))];
  return {
    ask: async () => {
      const { status, body } = await call({ session_id: unique("s"), sender, receiver, content }, 20);
      if (status !== 200) throw new Error(`Switchboard: ${status} ${body.msg}`);
    },
    stop: async () => {
      await target.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
