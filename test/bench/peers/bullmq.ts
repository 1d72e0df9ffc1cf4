import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../../infra/local/loopback.ts";
import type { RedisProgram } from "./install.ts";
import type { Peer } from "./measure.ts";

interface Closable {
  close(): Promise<void>;
  waitUntilReady(): Promise<unknown>;
}

/** A job that is added, worked on, and waited for, by BullMQ on a Redis that syncs each write to the disk. */
export async function startBullmq(folder: string, redis: RedisProgram, content: string): Promise<Peer> {
  const server = await startRedis(redis);
  const { Queue, QueueEvents, Worker } = createRequire(join(folder, "package.json"))("bullmq");
  const options = { connection: { host: "127.0.0.1", port: server.port, maxRetriesPerRequest: null } };
  const queue = new Queue("writer", options);
  const events = new QueueEvents("writer", options);
  const worker = new Worker("writer", async (job: { data: { content: string } }) => job.data, options);
  const parts: Closable[] = [worker, events, queue];
  await Promise.all(parts.map((part) => part.waitUntilReady()));
  return {
    ask: async () => {
      const job = await queue.add("call", { content });
      const reply: { content: string } = await job.waitUntilFinished(events);
      if (reply.content !== content) throw new Error(`BullMQ: ${JSON.stringify(reply)}`);
    },
    stop: async () => {
      for (const part of parts) await part.close();
      await server.stop();
    },
  };
}

async function startRedis({ path, env }: RedisProgram) {
  const port = await freePort();
  const dir = mkdtempSync(join(tmpdir(), "switchboard-redis-"));
  const durable = ["--appendonly", "yes", "--appendfsync", "always", "--save", ""];
  const child = spawn(path, ["--port", String(port), "--bind", "127.0.0.1", "--dir", dir, ...durable], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, ...env },
  });
  const ended = once(child, "close");
  const failed = ended.then(() => {
    throw new Error("Redis ended before it was ready.");
  });
  failed.catch(() => {});
  let printed = "";
  const ready = new Promise<void>((resolve) => {
    child.stdout.on("data", (chunk: Buffer) => {
      printed += chunk.toString();
      if (printed.includes("Ready to accept connections")) resolve();
    });
  });
  await Promise.race([ready, failed]);
  return {
    port,
    stop: async () => {
      child.kill();
      await ended;
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
