import { formatNames } from "../catalog.ts";
import { catalogFailures, headers, json, schemaRef } from "./answers.ts";

const query = (name: string, description: string, schema: object) => ({ name, in: "query", description, schema });
const language = query("lang", "Language of titles and descriptions.", {
  type: "string",
  enum: ["en", "zh-CN"],
  default: "en",
});

const catalogParameters = [
  query("format", "definition and seed are documents; the others go to a model platform as they are.", {
    type: "string",
    enum: formatNames,
    default: "definition",
  }),
  language,
  query("additions", "For format=seed: false leaves out what the seed's own document does not have.", {
    type: "string",
    enum: ["true", "false"],
    default: "true",
  }),
];

const toolName = {
  name: "tool",
  in: "path",
  required: true,
  description: "Name of a tool.",
  schema: { type: "string" },
};

const success = (description: string, content: object) => ({
  200: { description, headers: headers("X-Request-Id"), content },
});
const serverFailures = ["INTERNAL"] as const;
const keyFailures = ["INVALID_INPUT", "UNAUTHENTICATED", "RATE_LIMITED", "UNAVAILABLE", ...serverFailures] as const;

/** The routes that are no tool. */
export const otherPaths = {
  "/v1/tools": {
    get: {
      operationId: "list_tools",
      tags: ["catalog"],
      summary: "The tools that this key may use",
      parameters: catalogParameters,
      responses: { ...success("The tools.", json(schemaRef("catalog"))), ...catalogFailures(...keyFailures) },
    },
  },
  "/v1/tools/{tool}": {
    get: {
      operationId: "describe_tool",
      tags: ["catalog"],
      summary: "One tool",
      description: "A document in the formats definition and seed; in the others a catalog with this tool alone.",
      parameters: [toolName, ...catalogParameters],
      responses: {
        ...success("The tool.", json({ type: "object" })),
        ...catalogFailures(...keyFailures, "TOOL_NOT_FOUND"),
      },
    },
  },
  "/mcp": {
    post: {
      operationId: "mcp",
      tags: ["agent"],
      summary: "The same tools for MCP clients",
      description:
        "Model Context Protocol, streamable HTTP without sessions: one JSON-RPC message in, one out. Use an MCP client with this address and the key as bearer token.",
      requestBody: {
        required: true,
        content: json(
          {
            type: "object",
            description: "A JSON-RPC request or notification; a notification has no id.",
            required: ["jsonrpc", "method"],
            properties: {
              jsonrpc: { const: "2.0" },
              id: { type: ["string", "integer"] },
              method: { type: "string" },
              params: { type: "object", additionalProperties: true },
            },
          },
          { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} },
        ),
      },
      responses: {
        200: { description: "The JSON-RPC answer.", content: json({ type: "object" }) },
        202: { description: "A notification was taken; there is no body." },
        "4XX": { description: "The message can't be read, or the key is missing or not in force." },
      },
    },
  },
  "/openapi.json": {
    get: {
      operationId: "openapi",
      tags: ["catalog"],
      summary: "This document",
      security: [],
      parameters: [language],
      responses: {
        ...success("An OpenAPI 3.1 document.", json({ type: "object" })),
        ...catalogFailures("INVALID_INPUT", ...serverFailures),
      },
    },
  },
  "/docs": {
    get: {
      operationId: "docs",
      tags: ["catalog"],
      summary: "This document for people",
      security: [],
      parameters: [language],
      responses: {
        ...success("A page.", { "text/html": { schema: { type: "string" } } }),
        ...catalogFailures("INVALID_INPUT", ...serverFailures),
      },
    },
  },
  "/healthz": {
    get: {
      operationId: "health",
      tags: ["catalog"],
      summary: "Whether the API answers",
      security: [],
      responses: {
        ...success("It does.", json({ type: "object", required: ["status"], properties: { status: { const: "ok" } } })),
        429: {
          description: "The gateway's own throttle, which every route has.",
          content: json({ type: "object", required: ["message"], properties: { message: { type: "string" } } }),
        },
      },
    },
  },
};
