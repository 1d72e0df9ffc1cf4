import { EventEmitter, once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { close, listen } from "../infra/local/loopback.ts";

/** A delivery as the agent's server received it. */
interface Delivery {
  method: string;
  headers: IncomingHttpHeaders;
  /** The bytes that were signed. */
  raw: string;
  /** `{type, timestamp, data}` */
  body: { type: string; timestamp: string; data: Record<string, unknown> };
  /** Instant in ms. */
  at: number;
}

interface DeliveryAnswer {
  /** 200 unless set. */
  status?: number;
  headers?: Record<string, string>;
  /** Sent as JSON; nothing when absent. */
  body?: unknown;
  /** Sent as it is, in place of `body`. */
  raw?: string | Uint8Array;
}

/** Decides on a delivery, or holds it by a promise; `hang up` ends the connection without an answer. */
export type DeliveryHandler = (
  delivery: Delivery,
  index: number,
) => DeliveryAnswer | "hang up" | Promise<DeliveryAnswer | "hang up">;

export interface WebhookAgent {
  url: string;
  /** In the order they came, unanswered ones included. */
  deliveries: readonly Delivery[];
  /** Resolves once that many deliveries have come. */
  received(count: number): Promise<void>;
  stop(): Promise<void>;
}

/** Starts an agent platform's webhook on 127.0.0.1 that records what it gets and answers as the test says. */
export async function startWebhookAgent(handler: DeliveryHandler): Promise<WebhookAgent> {
  const deliveries: Delivery[] = [];
  const arrivals = new EventEmitter();
  const server = createServer(async (request, response) => {
    const raw = await text(request);
    const { method = "", headers } = request;
    const delivery = { method, headers, raw, body: JSON.parse(raw), at: Date.now() };
    const index = deliveries.push(delivery) - 1;
    arrivals.emit("arrival");
    respond(response, await handler(delivery, index));
  });
  const port = await listen(server, 0);
  return {
    url: `http://127.0.0.1:${port}/hook`,
    deliveries,
    received: async (count) => {
      while (deliveries.length < count) await once(arrivals, "arrival");
    },
    stop: () => close(server),
  };
}

function respond(response: ServerResponse, answer: DeliveryAnswer | "hang up"): void {
  if (answer === "hang up") return void response.destroy();
  const { status = 200, headers = {}, body, raw = body === undefined ? undefined : JSON.stringify(body) } = answer;
  if (raw === undefined) response.writeHead(status, headers).end();
  else response.writeHead(status, { "content-type": "application/json", ...headers }).end(raw);
}
