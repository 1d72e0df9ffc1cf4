import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { createServer as createTcpServer, type Socket } from "node:net";
import { afterAll, afterEach, expect, test } from "vitest";
import { close, listen } from "../../infra/local/loopback.ts";
import { acts, unique } from "../acts.ts";
import { startTestSystem } from "../system.ts";

/* Deliveries over connections that break, or that the agent's server closes between them. */

const system = await startTestSystem();
afterAll(() => system.stop());
const { tool } = system;
const { call, register } = acts(tool);

const servers: Server[] = [];
afterEach(() => Promise.all(servers.splice(0).map(close)));

/** An agent whose server is this one, and a way to call it. */
async function servedBy(server: Server) {
  servers.push(server);
  const webhook_url = `http://127.0.0.1:${await listen(server, 0)}/hook`;
  const [sender, receiver] = [await register("asker"), await register("writer", { delivery: "webhook", webhook_url })];
  return async () => {
    const { status, body } = await call({ session_id: unique("s"), sender, receiver }, 20);
    const found = await tool("get_call", { call_id: body.call_id, agent_name: sender });
    return { status, content: body.content, attempts: found.body.attempts.map(({ outcome }) => outcome) };
  };
}

const answered = { status: 200, content: "Yes.", attempts: ["answered"] };
const answer = JSON.stringify({ content: "Yes." });

test("a server that closes idle connections gets the next delivery once, over a new one", async () => {
  const sockets: Socket[] = [];
  let requests = 0;
  const server = createServer((_, response) => {
    requests += 1;
    response.end(answer);
  });
  server.on("connection", (socket) => sockets.push(socket));
  const ask = await servedBy(server);

  expect(await ask()).toEqual(answered);
  const idle = sockets[0] as Socket;
  const closed = once(idle, "close");
  idle.end(); // As a server does whose keep-alive time is over.
  await closed;
  expect(await ask()).toEqual(answered);

  expect([requests, sockets.length]).toEqual([2, 2]);
});

test("deliveries that follow one another use one connection", async () => {
  let connections = 0;
  const server = createServer((_, response) => response.end(answer));
  server.on("connection", () => connections++);
  const ask = await servedBy(server);
  expect([await ask(), await ask(), await ask()]).toEqual([answered, answered, answered]);
  expect(connections).toBe(1);
});

test("a connection that breaks as the next delivery comes costs an attempt, and the agent answers that message once", async () => {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    const id = String(request.headers["webhook-id"]);
    seen.push(id);
    // The second message comes over the connection of the first, which is gone by now.
    if (new Set(seen).size === 2 && seen.filter((each) => each === id).length === 1) request.socket.resetAndDestroy();
    else response.end(answer);
  });
  const ask = await servedBy(server);

  expect(await ask()).toEqual(answered);
  expect(await ask()).toEqual({
    ...answered,
    attempts: ["The receiver's webhook could not be reached.", "answered"],
  });

  expect(seen).toHaveLength(3);
  expect(seen[2]).toBe(seen[1]);
});

test("an answer that breaks off is no answer: the message is delivered again, under the same id", async () => {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(String(request.headers["webhook-id"]));
    if (seen.length > 1) return void response.end(answer);
    response.writeHead(200, { "content-length": answer.length });
    response.write(answer.slice(0, 5), () => response.destroy());
  });
  const ask = await servedBy(server);
  expect(await ask()).toEqual({
    ...answered,
    attempts: ["The receiver's webhook could not be reached.", "answered"],
  });
  expect(seen[1]).toBe(seen[0]);
});

test("what answers is no HTTP server: the delivery is tried again, and its words are shown to nobody", async () => {
  let connections = 0;
  const tcp = createTcpServer((socket) => {
    const first = ++connections === 1;
    const http = `HTTP/1.1 200 OK\r\nContent-Length: ${answer.length}\r\nConnection: close\r\n\r\n${answer}`;
    socket.once("data", () => socket.end(first ? "SSH-2.0-inner-secret-4711\r\n" : http));
    socket.on("error", () => {});
  });
  const port = await listen(tcp as Server, 0);
  const webhook_url = `http://127.0.0.1:${port}/hook`;
  const [sender, receiver] = [await register("asker"), await register("writer", { delivery: "webhook", webhook_url })];
  const { body } = await call({ session_id: unique("s"), sender, receiver }, 20);
  const found = await tool("get_call", { call_id: body.call_id, agent_name: sender });
  await new Promise((resolve) => tcp.close(resolve));
  expect(body.content).toBe("Yes.");
  expect(found.body.attempts.map(({ outcome }) => outcome)).toEqual([
    "The receiver's webhook could not be reached.",
    "answered",
  ]);
  expect(JSON.stringify(found.body)).not.toContain("inner-secret");
});
