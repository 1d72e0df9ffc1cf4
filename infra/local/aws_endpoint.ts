import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import * as z from "zod";
import { close, listen } from "./loopback.ts";

/** What one AWS operation answers, given its input. @throws {AwsError} */
type Operation = (input: unknown) => unknown;

/** A refusal in AWS's own words; the SDK makes a named exception of it. */
class AwsError extends Error {
  readonly type: string;

  constructor(type: string, message: string) {
    super(message);
    this.type = type;
  }
}

/**
 * The AWS services that neither engine stands in for, at one local endpoint: each operation is found by its
 * `X-Amz-Target` (AWS JSON 1.1). The SDK clients are pointed here for every service that has no other
 * endpoint, so that nothing local ever reaches AWS.
 */
export async function startAwsEndpoint(operations: ReadonlyMap<string, Operation>) {
  const server = createServer((request, response) => {
    answer(operations, request, response).catch((error: unknown) => {
      console.error("local AWS endpoint:", error);
      reply(response, 500, { __type: "InternalFailure", message: "The local endpoint failed." });
    });
  });
  const port = await listen(server, 0);
  return { endpoint: `http://127.0.0.1:${port}`, stop: () => close(server) };
}

async function answer(operations: ReadonlyMap<string, Operation>, request: IncomingMessage, response: ServerResponse) {
  const body = await text(request);
  const target = String(request.headers["x-amz-target"] ?? "");
  try {
    const operation = operations.get(target);
    if (!operation) {
      const asked = target || `${request.method} ${request.url}`;
      throw new AwsError("UnknownOperationException", `The local endpoint does not know ${asked}.`);
    }
    reply(response, 200, await operation(JSON.parse(body)));
  } catch (error) {
    if (!(error instanceof AwsError)) throw error;
    reply(response, 400, { __type: error.type, message: error.message });
  }
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/x-amz-json-1.1" }).end(JSON.stringify(body));
}

const secretRequest = z.object({ SecretId: z.string() });

/** Secrets Manager for the given secrets, by their id. */
export function secretsManager(secrets: ReadonlyMap<string, string>): [target: string, Operation] {
  const getSecretValue = (input: unknown) => {
    const { SecretId } = secretRequest.parse(input);
    const SecretString = secrets.get(SecretId);
    if (SecretString === undefined) {
      throw new AwsError("ResourceNotFoundException", "Secrets Manager can't find the specified secret.");
    }
    return { Name: SecretId, SecretString, VersionStages: ["AWSCURRENT"] };
  };
  return ["secretsmanager.GetSecretValue", getSecretValue];
}
