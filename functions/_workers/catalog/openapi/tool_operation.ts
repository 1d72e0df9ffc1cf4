import type { Contract } from "../../../_runtime/contract.ts";
import { definition, type Language } from "../../../_runtime/manifest.ts";
import { failures, headers, json, schemaRef } from "./answers.ts";

/** What calling a tool is: its request, each answer, and the fields that say who may call it and what it does. */
export function toolOperation(contract: Contract, language: Language): Record<string, unknown> {
  const { name, title, description, inputSchema } = definition(contract, language);
  const { audience, riskLevel, idempotent, sideEffect, requiresApproval, permissions, version } = contract;
  const examples = contract.examples.map(({ input }, index) => [`example_${index + 1}`, { value: input }]);
  return {
    operationId: name,
    tags: [audience],
    summary: title,
    description,
    parameters: parametersOf(contract),
    requestBody: {
      required: (inputSchema.required ?? []).length > 0,
      content: { "application/json": { schema: schemaRef(`${name}_input`), examples: Object.fromEntries(examples) } },
    },
    responses: { ...successes(contract), ...failuresOf(contract) },
    "x-switchboard": { version, riskLevel, idempotent, sideEffect, requiresApproval, permissions },
  };
}

const waits = ({ defaultWaitS }: Contract) => defaultWaitS !== undefined;

/** Only tools that wait heed Prefer, and only those that change something an Idempotency-Key. */
const parametersOf = (contract: Contract) =>
  [...(waits(contract) ? ["Prefer"] : []), ...(contract.sideEffect === "none" ? [] : ["Idempotency-Key"])].map(
    (name) => ({ $ref: `#/components/parameters/${name}` }),
  );

const waitHeader = (contract: Contract) => (waits(contract) ? (["Preference-Applied"] as const) : []);

function successes(contract: Contract) {
  const schema = schemaRef(`${contract.name}_output`);
  const answerHeaders = headers("X-Request-Id", ...waitHeader(contract));
  return {
    200: { description: "Done.", headers: answerHeaders, content: json(schema, contract.examples[0]?.output) },
    202: {
      description:
        "Taken, but not done yet: `msg` says what it waits for and how to get the result. Do not send it again as a new request.",
      headers: answerHeaders,
      content: json(schema),
    },
  };
}

/** Agents' tools keep their shape when they fail; a repository's tools answer `error` alone. */
function failuresOf(contract: Contract) {
  const keepsShape = "code" in contract.output.shape;
  const withTypes = (types: string[]) => ({
    allOf: [
      schemaRef(keepsShape ? `${contract.name}_output` : "failure"),
      {
        type: "object",
        required: ["error"],
        properties: { error: { type: "object", properties: { type: { type: "string", enum: types } } } },
      },
    ],
  });
  return failures(contract.errorModel, withTypes, waitHeader(contract));
}
