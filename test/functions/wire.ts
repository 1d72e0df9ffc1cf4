import { randomBytes } from "node:crypto";
import { expect } from "vitest";
import type { Contract } from "../../functions/_runtime/contract.ts";
import { bareFailure, hasEnvelope, outputSchema, outputWithError } from "../../functions/_runtime/schema.ts";
import type { HttpHandler } from "../../infra/local/gateway.ts";

/** An answer before anybody trusts it to be what the contract says. */
export interface RawAnswer {
  status: number;
  headers: Record<string, string>;
  body: Record<string, unknown>;
}

interface Request {
  body?: string;
  isBase64Encoded?: boolean;
  headers?: Record<string, string>;
  method?: string;
  rawPath?: string;
  stage?: string;
  timeEpoch?: number;
  requestId?: string;
}

/** The event of an HTTP API for a request (payload format 2.0), no more of it than the functions may rely on. */
export const gatewayEvent = ({ body, isBase64Encoded = false, headers = {}, ...request }: Request = {}) => {
  const { method = "POST", rawPath = "/", stage = "$default", timeEpoch = Date.now() } = request;
  const { requestId = randomBytes(11).toString("base64url") } = request;
  return {
    version: "2.0",
    routeKey: "$default",
    rawPath,
    rawQueryString: "",
    headers,
    ...(body !== undefined && { body }),
    isBase64Encoded,
    requestContext: { requestId, timeEpoch, stage, http: { method, path: rawPath } },
  };
};

/** Runs a function with an event, as the gateway does. */
export async function run(handler: HttpHandler | undefined, event: unknown): Promise<RawAnswer> {
  const answer = await handler?.(event as Parameters<HttpHandler>[0]);
  const { statusCode = 0, headers = {}, body = "" } = answer ?? {};
  return { status: statusCode, headers: headers as Record<string, string>, body: JSON.parse(body) };
}

/** Expects an answer in the tool's own shape, whether it succeeded or not. `about` says which request it was. */
export function expectWellFormed(contract: Contract, { status, body }: RawAnswer, about: string): void {
  const isStub = "NOT_IMPLEMENTED" in contract.errorModel && status === 501;
  if (!isStub) expect(status, `${about}: ${JSON.stringify(body)}`).toBeLessThan(500);
  const isBare = !hasEnvelope(contract) && status >= 400;
  if (!isBare) expect(Object.keys(body), about).toEqual(expect.arrayContaining(required(contract)));
  expect((isBare ? bareFailure : outputWithError(contract)).safeParse(body).error?.issues, about).toBeUndefined();
  expect(JSON.stringify(body), about).not.toMatch(/\.ts:\d|node_modules|\\ud[89a-f]/i);
}

const required = (contract: Contract) => outputSchema(contract).required?.filter((name) => name !== "error") ?? [];

/** What a refusal says is wrong. */
export const messageOf = ({ body }: RawAnswer) => String(Reflect.get(Object(body.error), "message"));

/** Expects a refusal that says, in the tool's own shape, what is wrong and what to do next. */
export function expectRefusal(contract: Contract, answer: RawAnswer, about: string): void {
  expectWellFormed(contract, answer, about);
  const { status, body } = answer;
  expect(status, `${about}: ${JSON.stringify(body)}`).toBeGreaterThanOrEqual(400);
  if (hasEnvelope(contract)) expect(body, about).toMatchObject({ code: status, msg: messageOf(answer) });
  expect(body, about).toMatchObject({
    error: {
      type: expect.toBeOneOf(Object.keys(contract.errorModel)),
      message: expect.stringMatching(/\S/),
      hint: expect.stringMatching(/\S/),
      retryable: false,
    },
  });
}
