import { AwsError, type AwsService } from "./aws_endpoint.ts";

/** A deployed function, whatever it is invoked with. */
export type LambdaHandler = (event: never) => Promise<unknown>;

const invocation = /^\/2015-03-31\/functions\/([\w-]+)\/invocations$/;

/** Lambda's Invoke for the functions of this process, by their names. */
export function lambdaService(functions: ReadonlyMap<string, LambdaHandler>): AwsService {
  return async ({ method, path, body }) => {
    const [, name] = invocation.exec(path) ?? [];
    if (method !== "POST" || name === undefined) return undefined;
    const handler = functions.get(name);
    if (!handler) throw new AwsError("ResourceNotFoundException", `Function not found: ${name}`, 404);
    try {
      return { body: JSON.stringify((await handler(JSON.parse(body) as never)) ?? null) };
    } catch (error) {
      console.error(`${name} failed:`, error);
      const { name: errorType, message: errorMessage } = error as Error;
      return { headers: { "x-amz-function-error": "Unhandled" }, body: { errorType, errorMessage } };
    }
  };
}
