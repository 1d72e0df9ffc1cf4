/*
 * An agent made with the A2A SDK, in a process of its own: it answers each message at once and keeps everything in
 * memory. Started in the folder that holds the SDK; prints its address.
 */
import { randomUUID } from "node:crypto";
import type { RequestListener } from "node:http";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { listen } from "../../../infra/local/loopback.ts";

const require = createRequire(join(process.cwd(), "package.json"));
const { DefaultRequestHandler, InMemoryTaskStore, AgentEvent } = require("@a2a-js/sdk/server");
const { agentCardHandler, jsonRpcHandler, UserBuilder } = require("@a2a-js/sdk/server/express");
const express = require("express");

interface Received {
  contextId: string;
  userMessage: { parts: { content?: { value: string } }[] };
}

const agent = {
  execute: async ({ contextId, userMessage }: Received, bus: { publish(event: unknown): void; finished(): void }) => {
    const text = userMessage.parts[0]?.content?.value ?? "";
    const message = {
      messageId: randomUUID(),
      contextId,
      taskId: "",
      role: 2, // The agent's.
      parts: [{ content: { $case: "text", value: text }, metadata: undefined, filename: "", mediaType: "text/plain" }],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    };
    bus.publish(AgentEvent.message(message));
    bus.finished();
  },
  cancelTask: async () => {},
};

const app = express();
const server = createServer(app as RequestListener);
const url = `http://127.0.0.1:${await listen(server, 0)}`;
const card = {
  name: "writer",
  description: "Answers at once.",
  version: "1",
  supportedInterfaces: [{ url: `${url}/rpc`, protocolBinding: "JSONRPC", tenant: "", protocolVersion: "1.0" }],
  provider: undefined,
  capabilities: { streaming: false, pushNotifications: false, extensions: [] },
  securitySchemes: {},
  securityRequirements: [],
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
  skills: [],
  signatures: [],
};
const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), agent);
app.use("/.well-known/agent-card.json", agentCardHandler({ agentCardProvider: requestHandler }));
app.use("/rpc", jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
console.log(url);
