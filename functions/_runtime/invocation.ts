import { authenticate, type Principal, principalOfKey } from "./auth.ts";
import { type DirectEvent, parseDirectEvent } from "./direct_event.ts";
import { type GatewayEvent, idempotencyKey, noWait, parseEvent, readJson, readWait, type Wait } from "./request.ts";

/** By which way a tool was asked: a platform's request, or one of our own parts for somebody who is not there. */
export interface Origin {
  via: "http" | "mcp" | "approval" | "schedule";
  /** The approval by which it runs; empty when it needed none. */
  approvalId: string;
  /** The schedule that started it; empty when none did. */
  scheduleId: string;
}

/** What a tool is asked, whichever way it came. Each part is read when it is needed, so that its fault is named then. */
export interface Invocation {
  requestId: string;
  origin: Origin;
  /** @throws {ToolError} */
  authenticate(): Promise<Principal>;
  /** @throws {ToolError} */
  readBody(): unknown;
  /** @throws {ToolError} */
  idempotencyKey(): string | undefined;
  readWait(defaultS: number): Wait;
  /** What must be as it was when this was asked for; nothing for somebody who asks now. */
  unchanged: { version?: string | undefined; role?: string | undefined };
}

/** The route by which the MCP worker relays a request; API Gateway sets it, no caller can. */
const mcpRoute = "POST /mcp";

/** @throws {z.ZodError} for an event that neither the gateway nor our own parts have made */
export function readInvocation(event: unknown): Invocation {
  const direct = parseDirectEvent(event);
  return direct === undefined ? fromGateway(parseEvent(event)) : fromInside(direct);
}

const fromGateway = (event: GatewayEvent): Invocation => ({
  requestId: event.requestContext.requestId,
  origin: { via: event.routeKey === mcpRoute ? "mcp" : "http", approvalId: "", scheduleId: "" },
  authenticate: () => authenticate(event),
  readBody: () => readJson(event),
  idempotencyKey: () => idempotencyKey(event),
  readWait: (defaultS) => readWait(event, defaultS),
  unchanged: {},
});

/** Nobody is there to wait for an answer. */
const fromInside = ({ direct }: DirectEvent): Invocation => ({
  requestId: direct.requestId,
  origin: {
    via: direct.via,
    approvalId: direct.via === "approval" ? direct.id : "",
    scheduleId: direct.via === "schedule" ? direct.id : (direct.scheduleId ?? ""),
  },
  authenticate: () => principalOfKey(direct.workspace, direct.keyId),
  readBody: () => direct.input,
  idempotencyKey: () => direct.idempotencyKey,
  readWait: () => noWait,
  unchanged: { version: direct.version, role: direct.role },
});
