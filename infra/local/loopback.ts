import type { Server } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { OperatorError } from "../arguments.ts";

/**
 * Listens on 127.0.0.1 and nowhere else: nothing local is meant for the network.
 * @param port 0 takes a free one
 * @returns the port
 * @throws {OperatorError} when the port is taken or not allowed
 */
export async function listen(server: Server, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(explained(error, port)));
    server.listen({ port, host: "127.0.0.1" }, resolve);
  });
  return (server.address() as AddressInfo).port;
}

function explained(error: NodeJS.ErrnoException, port: number): Error {
  if (error.code === "EADDRINUSE") return new OperatorError(`Port ${port} is in use. Choose another one with --port.`);
  if (error.code === "EACCES")
    return new OperatorError(`Port ${port} needs more rights than this process has. Choose one above 1023.`);
  return error;
}

/** A port that was free a moment ago, for a child that can't choose one itself and say which. */
export async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve, reject) => {
    probe.once("error", reject);
    probe.listen({ port: 0, host: "127.0.0.1" }, resolve);
  });
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

/** Closes a server together with the connections that are still open. */
export async function close(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
}
