import type { Contract } from "../../../_runtime/contract.ts";
import { definition, type Language } from "../../../_runtime/manifest.ts";

/** The schemas of a tool, by the names under which its operation refers to them. */
export function toolComponents(contract: Contract, language: Language): Record<string, object> {
  const { name, inputSchema, outputSchema } = definition(contract, language);
  return { [`${name}_input`]: inputSchema, [`${name}_output`]: outputSchema };
}

/** What the operations share. */
export const components = (toolSchemas: Record<string, object>) => ({
  securitySchemes: {
    key: {
      type: "http",
      scheme: "bearer",
      description: "An API key, sb_<workspace>_<id>_<secret>. Its scopes are the permissions of the tools it may use.",
    },
  },
  parameters: {
    Prefer: {
      name: "Prefer",
      in: "header",
      description:
        "How long to wait for the result (RFC 7240): `wait=N` with N from 0 to 25 seconds, more is clamped; or `respond-async`.",
      schema: { type: "string" },
      example: "wait=10",
    },
    "Idempotency-Key": {
      name: "Idempotency-Key",
      in: "header",
      description:
        "1 to 255 visible ASCII characters, for example a UUID. A repeat within 24 hours finds the first request's effect and answers with its state as it is now.",
      schema: { type: "string", pattern: "^[!-~]{1,255}$" },
      example: "3f0d6c1e-8a52-4a55-9b0e-6f2f6f0d9a11",
    },
  },
  headers: {
    "X-Request-Id": {
      description: "Id of this request, which the log carries too.",
      required: true,
      schema: { type: "string" },
    },
    "Preference-Applied": {
      description: "The preference that was followed, with the wait after clamping.",
      schema: { type: "string" },
    },
    "Retry-After": { description: "Seconds after which to try again.", schema: { type: "integer", minimum: 0 } },
    "WWW-Authenticate": { description: "The scheme to authenticate with.", schema: { type: "string" } },
  },
  schemas: {
    failure: {
      type: "object",
      description: "An answer of a route that has no shape of its own.",
      required: ["error"],
      properties: {
        code: { type: "integer", description: "The HTTP status." },
        msg: { type: "string", description: "What is wrong, in one sentence." },
        error: {
          type: "object",
          required: ["type", "message", "hint", "retryable"],
          properties: {
            type: { type: "string", description: "Type of the error." },
            message: { type: "string", description: "What is wrong with this request." },
            hint: { type: "string", description: "What to do next." },
            retryable: { type: "boolean", description: "Whether the same request may succeed later." },
            details: { type: "object", description: "Facts for a program." },
          },
        },
      },
    },
    catalog: {
      type: "object",
      description: "Tools in the format asked for.",
      required: ["tools"],
      properties: {
        tools: { type: "array", items: { type: "object" }, description: "As the platform's API takes them." },
        losses: {
          type: "array",
          description:
            "For a model platform's format: what it can't express. The server keeps to all of it nevertheless.",
          items: {
            type: "object",
            required: ["tool", "fields", "keywords"],
            properties: {
              tool: { type: "string" },
              fields: { type: "array", items: { type: "string" }, description: "Fields of the Tool Definition." },
              keywords: {
                type: "object",
                description: "Keywords of the input schema, each with the paths where it is lost.",
                additionalProperties: { type: "array", items: { type: "string" } },
              },
            },
          },
        },
      },
    },
    ...toolSchemas,
  },
});
