import type * as z from "zod";
import type { contracts } from "../functions/tools.ts";

/** What a failed tool says beside its own fields. */
interface ToolErrorBody {
  type: string;
  message: string;
  hint: string;
  retryable: boolean;
  details?: Record<string, unknown>;
}

type ContractOf<Name extends string> = Extract<(typeof contracts)[number], { name: Name }>;

/** A tool's returns by its contract; fields of unknown type when its name isn't known to the type system. */
type Body<Name extends string> = ([ContractOf<Name>] extends [never]
  ? { code: number; msg: string; [field: string]: unknown }
  : z.output<ContractOf<Name>["output"]>) & { error?: ToolErrorBody };

interface Answer<Name extends string = string> {
  status: number;
  headers: Headers;
  body: Body<Name>;
}

interface CallOptions {
  headers?: Record<string, string>;
  /** Another key than the client's own; "" sends none. */
  key?: string;
}

export type ToolClient = <Name extends string>(
  name: Name,
  input?: unknown,
  options?: CallOptions,
) => Promise<Answer<Name>>;

/** Calls tools over HTTP, as a platform does. */
export function toolClient(url: string, ownKey: string): ToolClient {
  return async <Name extends string>(
    name: Name,
    input: unknown = {},
    { headers = {}, key = ownKey }: CallOptions = {},
  ) => {
    const response = await fetch(`${url}/v1/tools/${name}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...(key && { authorization: `Bearer ${key}` }), ...headers },
      body: JSON.stringify(input),
    });
    return { status: response.status, headers: response.headers, body: (await response.json()) as Body<Name> };
  };
}
