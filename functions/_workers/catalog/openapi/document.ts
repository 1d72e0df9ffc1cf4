import type { Contract } from "../../../_runtime/contract.ts";
import type { Language } from "../../../_runtime/manifest.ts";
import { components, toolComponents } from "./components.ts";
import { otherPaths } from "./other_paths.ts";
import { toolOperation } from "./tool_operation.ts";

/** The whole HTTP API as an OpenAPI 3.1 document, from the contracts. */
export function openApi(contracts: readonly Contract[], language: Language): Record<string, unknown> {
  const toolPaths = contracts.map((contract) => [
    `/v1/tools/${contract.name}`,
    { post: toolOperation(contract, language) },
  ]);
  const schemas = Object.assign({}, ...contracts.map((contract) => toolComponents(contract, language)));
  return {
    openapi: "3.1.0",
    info: {
      title: "Switchboard",
      version: "1.0.0",
      description:
        "Lets AI agents call one another, hand out work and see who is busy. Every tool is a POST with a JSON object; " +
        "a failed answer keeps the tool's shape and says in `error.hint` what to do next.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/", description: "The server that this document came from." }],
    security: [{ key: [] }],
    tags: [
      { name: "agent", description: "Tools for agents." },
      { name: "operator", description: "Tools for operators, which no agent's catalog shows." },
      { name: "catalog", description: "What there is, for platforms and people." },
    ],
    paths: { ...Object.fromEntries(toolPaths), ...otherPaths },
    components: components(schemas),
  };
}
