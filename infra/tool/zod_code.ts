import type { JsonSchema } from "../../functions/_runtime/schema.ts";
import type { Draft } from "./draft.ts";
import { isLongText, type Told } from "./texts.ts";

/** A schema of the contract as source code, and what of `_runtime/fields.ts` it uses. */
export interface SchemaCode {
  code: string;
  fields: ReadonlySet<string>;
}

/** Code units of which UTF-8 makes 64 KiB at most. */
const longText = 21_845;

/** The vocabulary of `_runtime/fields.ts`, by the names of fields that the seeds have. */
const vocabulary: Readonly<Record<string, string>> = {
  session_id: "sessionId",
  user_name: "userName",
  agent_name: "agentName",
  sender: "agentName",
  receiver: "agentName",
  leader: "agentName",
  executor: "agentName",
  project_name: "title",
  task_name: "title",
};

export const inputCode = ({ input, texts }: Draft): SchemaCode => new Writer(texts.input, true).whole(input);

export function outputCode({ output, texts, seedRequired }: Draft): SchemaCode {
  return new Writer(texts.output, false, new Set(seedRequired)).whole(output);
}

class Writer {
  readonly #texts: Record<string, Told>;
  readonly #isInput: boolean;
  readonly #seedRequired: ReadonlySet<string>;
  readonly #fields = new Set<string>();

  constructor(texts: Record<string, Told>, isInput: boolean, seedRequired: ReadonlySet<string> = new Set()) {
    this.#texts = texts;
    this.#isInput = isInput;
    this.#seedRequired = seedRequired;
  }

  whole(schema: JsonSchema): SchemaCode {
    return { code: this.#object(schema, ""), fields: this.#fields };
  }

  #object({ properties = {}, required = [] }: JsonSchema, path: string): string {
    const entries = Object.entries(properties);
    const head = path === "" && !this.#isInput && isEnvelope(properties) ? 2 : 0;
    if (head > 0) this.#fields.add("envelope");
    const lines = entries
      .slice(head)
      .map(
        ([name, property]) => `${JSON.stringify(name)}: ${this.#field(name, property, path, required.includes(name))},`,
      );
    return `z.strictObject({\n${head > 0 ? "...envelope,\n" : ""}${lines.join("\n")}\n})`;
  }

  #field(name: string, schema: JsonSchema, around: string, isRequired: boolean): string {
    const path = around === "" ? name : `${around}.${name}`;
    const described = this.#described(name, schema, path);
    const code = described + presence(schema, isRequired);
    if (around !== "" || !this.#seedRequired.has(name)) return code;
    this.#fields.add("seedRequired");
    return `seedRequired(${code})`;
  }

  #described(name: string, schema: JsonSchema, path: string): string {
    const text = JSON.stringify(this.#texts[path]?.en ?? "");
    const helper = this.#isInput ? helperOf(name, schema) : undefined;
    if (helper === undefined) return `${this.#code(schema, path, name)}.describe(${text})`;
    this.#fields.add(helper);
    return `${helper}(${text})`;
  }

  #code(schema: JsonSchema, path: string, name = ""): string {
    const { minimum, maximum, minLength, maxLength, maxItems } = schema;
    switch (schema.type) {
      case "object":
        return this.#object(schema, path);
      case "array":
        return `z.array(${this.#code(schema.items ?? {}, `${path}[]`)})${bound("max", maxItems)}`;
      case "integer":
        return `z.int()${bound("min", minimum)}${bound("max", maximum)}`;
      case "number":
        return `z.number()${bound("min", minimum)}${bound("max", maximum)}`;
      case "boolean":
        return "z.boolean()";
      default: {
        if (schema.enum) return `z.enum(${JSON.stringify(schema.enum)})`;
        const most = maxLength ?? (this.#isInput ? 1024 : isLongText(name) ? longText : undefined);
        return `z.string()${bound("min", minLength)}${bound("max", most)}`;
      }
    }
  }
}

const bound = (kind: "min" | "max", value: number | undefined) =>
  value === undefined ? "" : `.${kind}(${numeral(value)})`;

/** As this project writes numbers: `2_147_483_647`. */
const numeral = (value: number) =>
  Number.isInteger(value) && Math.abs(value) >= 10_000
    ? value.toLocaleString("en").replaceAll(",", "_")
    : String(value);

/** What a parameter's name and shape say of how its text is to be read; other long texts are plain texts. */
function helperOf(name: string, { type, enum: values, minLength, maxLength }: JsonSchema): string | undefined {
  if (type !== "string" || values || minLength !== undefined || maxLength !== undefined) return undefined;
  return vocabulary[name] ?? "text";
}

function presence({ default: start }: JsonSchema, isRequired: boolean): string {
  if (start === undefined) return isRequired ? "" : ".optional()";
  const value = JSON.stringify(start);
  const isEmpty = value === "[]" || value === "{}";
  // A fresh copy each time, at every depth.
  return typeof start === "object" && start !== null && !isEmpty ? `.default(() => (${value}))` : `.default(${value})`;
}

/** The first two returns are those that `envelope` states. */
function isEnvelope(properties: Record<string, JsonSchema>): boolean {
  const [code, msg] = Object.entries(properties);
  return (
    code?.[0] === "code" &&
    code[1].type === "number" &&
    code[1].default === 0 &&
    msg?.[0] === "msg" &&
    msg[1].type === "string" &&
    msg[1].default === ""
  );
}
