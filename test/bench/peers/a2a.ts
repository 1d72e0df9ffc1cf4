import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Peer } from "./measure.ts";

interface A2aClient {
  sendMessage(request: object): Promise<{ parts?: { content?: { value: string } }[] }>;
}

/** A request to an agent and its reply, by the A2A SDK over JSON-RPC, nothing kept but in memory. */
export async function startA2a(folder: string, content: string): Promise<Peer> {
  const agent = spawn(process.execPath, [join(import.meta.dirname, "a2a_agent.ts")], {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const url = await firstLine(agent);
  const require = createRequire(join(folder, "package.json"));
  const { ClientFactory } = require("@a2a-js/sdk/client");
  const client: A2aClient = await new ClientFactory().createFromUrl(url);
  return {
    ask: async () => {
      const message = {
        messageId: randomUUID(),
        contextId: "",
        taskId: "",
        role: 1, // The user's.
        parts: [
          { content: { $case: "text", value: content }, metadata: undefined, filename: "", mediaType: "text/plain" },
        ],
        metadata: undefined,
        extensions: [],
        referenceTaskIds: [],
      };
      const reply = await client.sendMessage({ tenant: "", message, configuration: undefined, metadata: undefined });
      if (reply.parts?.[0]?.content?.value !== content) throw new Error(`A2A: ${JSON.stringify(reply)}`);
    },
    stop: async () => {
      const ended = once(agent, "close");
      agent.kill();
      await ended;
    },
  };
}

async function firstLine(child: ChildProcess): Promise<string> {
  const ended = once(child, "close").then(() => {
    throw new Error("The A2A agent ended before it listened.");
  });
  ended.catch(() => {});
  const [chunk] = await Promise.race([once(child.stdout as NodeJS.ReadableStream, "data"), ended]);
  return String(chunk).trim();
}
