import type { JsonSchema } from "../../functions/_runtime/schema.ts";

/** A value that a schema allows, with every field: the example of a tool whose manifest has none. */
export function sample(schema: JsonSchema, name = ""): unknown {
  switch (schema.type) {
    case "object":
      return Object.fromEntries(Object.entries(schema.properties ?? {}).map(([key, part]) => [key, sample(part, key)]));
    case "array":
      return schema.maxItems === 0 ? [] : [sample(schema.items ?? {}, name)];
    case "integer":
    case "number":
      return number(schema);
    case "boolean":
      return schema.default ?? false;
    default:
      return schema.enum?.[0] ?? text(schema, name);
  }
}

const number = ({
  default: start,
  minimum = Number.NEGATIVE_INFINITY,
  maximum = Number.POSITIVE_INFINITY,
}: JsonSchema) => (typeof start === "number" ? start : Math.min(Math.max(1, minimum), maximum));

/** Words by the names of fields that the seeds have. */
const words: Readonly<Record<string, string>> = {
  session_id: "s-1",
  user_name: "alice",
  agent_name: "writer",
  sender: "lead",
  receiver: "writer",
  leader: "lead",
  executor: "writer",
  msg: "",
  type: "text",
  source_ref: "switchboard://examples/1",
  sourceRef: "switchboard://examples/1",
};

function text({ minLength = 0, maxLength = 1000 }: JsonSchema, name: string): string {
  return (words[name] ?? "example").padEnd(minLength, "x").slice(0, maxLength);
}
