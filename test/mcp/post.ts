export interface Posted {
  status: number;
  headers: Headers;
  /** undefined when there was none. */
  body: unknown;
}

interface Options {
  key?: string;
  headers?: Record<string, string>;
  /** After `/mcp`. */
  query?: string;
  method?: string;
}

/** Sends one message as it is: text goes unchanged, everything else as JSON. */
export async function post(url: string, message: unknown, options: Options = {}): Promise<Posted> {
  const { key, headers = {}, query = "", method = "POST" } = options;
  const body = typeof message === "string" ? message : JSON.stringify(message);
  const response = await fetch(`${url}/mcp${query}`, {
    method,
    headers: { "content-type": "application/json", ...(key && { authorization: `Bearer ${key}` }), ...headers },
    ...(method !== "GET" && { body }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === "" ? undefined : JSON.parse(text) };
}

/** A message as a client of 2025-11-25 sends it once it is connected. */
export const message = (method: string, params?: object, id: string | number = 1) => ({
  jsonrpc: "2.0",
  id,
  method,
  ...(params && { params }),
});

export const toolCall = (name: string, input?: unknown, _meta?: object) =>
  message("tools/call", { name, arguments: input, ...(_meta && { _meta }) });

/** What each message of revision 2026-07-28 says of itself, in `_meta` and again in headers. */
export const modern = (method: string, params: object = {}, version = "2026-07-28") => ({
  message: message(method, {
    ...params,
    _meta: {
      "io.modelcontextprotocol/protocolVersion": version,
      "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": {},
    },
  }),
  headers: { "mcp-protocol-version": version, "mcp-method": method },
});
