import { closest } from "fastest-levenshtein";
import type * as z from "zod";
import type { Contract } from "./contract.ts";
import { ToolError } from "./errors.ts";
import { limits } from "./limits.ts";
import { annotatedInputSchema, type JsonSchema } from "./schema.ts";

interface Issue {
  path: string;
  message: string;
}

/**
 * Reads arguments as language models write them: forgiving where the meaning is certain, loud everywhere
 * else (design, section 3). Names come back in NFC.
 * @throws {ToolError} INVALID_INPUT naming every parameter that is wrong
 */
export function readInput<I extends z.ZodObject>(contract: Contract<I>, raw: unknown): z.output<I> {
  const issues: Issue[] = [];
  const schema = annotatedInputSchema(contract);
  const absent = raw === undefined || raw === null || raw === "";
  const read = readValue(schema, absent ? {} : raw, "", issues);
  const parsed = contract.input.safeParse(read);
  // Where reading found a fault, zod would only repeat it in other words.
  if (issues.length === 0 && !parsed.success) {
    assertTextsFit(parsed.error.issues);
    issues.push(...parsed.error.issues.map(fromZod));
  }
  if (issues.length > 0 || !parsed.success) throw invalid(issues, schema);
  return parsed.data;
}

/** A text over its limit is one fault, however it was counted. @throws {ToolError} CONTENT_TOO_LARGE */
function assertTextsFit(issues: readonly z.core.$ZodIssue[]): void {
  const long = issues.find((issue) => issue.code === "too_big" && issue.maximum === limits.contentBytes);
  if (long === undefined) return;
  const { path } = fromZod(long);
  throw new ToolError("CONTENT_TOO_LARGE", `${path} is longer than the ${limits.contentBytes} bytes allowed.`, {
    details: { field: path, max: limits.contentBytes },
  });
}

/** So many faults are named; looking for more would only cost time. */
const mostIssues = 10;

function readValue(schema: JsonSchema, value: unknown, path: string, issues: Issue[]): unknown {
  switch (schema.type) {
    case "object":
      return readObject(schema, unwrap(value, "{"), path, issues);
    case "array": {
      const list = unwrap(value, "[");
      // One that is too long is refused for that, not read to its end.
      if (!Array.isArray(list) || list.length > (schema.maxItems ?? Number.POSITIVE_INFINITY)) return list;
      return list.map((entry, index) => readValue(schema.items ?? {}, entry, `${path}[${index}]`, issues));
    }
    case "integer":
    case "number":
      return typeof value === "string" && /^-?(0|[1-9]\d{0,15})$/.test(value) ? Number(value) : value;
    case "boolean":
      return value === "true" ? true : value === "false" ? false : value;
    case "string":
      return typeof value === "string" ? readString(schema, value, path, issues) : value;
    default:
      return value;
  }
}

function readObject(schema: JsonSchema, value: unknown, path: string, issues: Issue[]): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const properties = schema.properties ?? {};
  const read: Record<string, unknown> = {};
  for (const [name, entry] of Object.entries(value)) {
    if (issues.length >= mostIssues) break;
    const at = path === "" ? name : `${path}.${name}`;
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (property === undefined) issues.push(unknownParameter(name, path, Object.keys(properties)));
    else if (entry !== null || schema.required?.includes(name)) read[name] = readValue(property, entry, at, issues);
  }
  return read;
}

/** A declared object or array that arrives as JSON text is unwrapped once; anything else stays as it is. */
function unwrap(value: unknown, opening: "{" | "["): unknown {
  if (typeof value !== "string" || !value.trimStart().startsWith(opening)) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value; // Not JSON after all: zod then says which type was expected.
  }
}

// Default-ignorable code points (zero-width, joiners, fillers, bidi marks), controls, line separators, Braille blank.
const invisible = /[\p{Cc}\p{Default_Ignorable_Code_Point}\p{Cf}\p{Zl}\p{Zp}\u2800]/u;
const placeholders = new Set(["null", "none", "undefined", "unknown"]);

/** A word that a model writes when it has no value. */
export const isPlaceholder = (value: string) => placeholders.has(value.toLowerCase());

function readString(schema: JsonSchema, value: string, path: string, issues: Issue[]): string {
  const fault = (message: string) => issues.push({ path, message });
  if (!value.isWellFormed()) fault("holds half of a character (a lone surrogate); send well-formed Unicode");
  if (schema["x-text"] !== "name") return value;
  if (invisible.test(value)) fault("holds an invisible or control character; remove it");
  else if (value.includes("\uFFFD")) fault("holds a replacement character (U+FFFD): it was damaged on its way");
  else if (value !== value.trim()) fault("begins or ends with a space; remove it");
  else if (isPlaceholder(value)) fault(`is the placeholder '${value}'; leave the parameter out or give the real value`);
  return value.normalize("NFC");
}

function unknownParameter(name: string, path: string, allowed: string[]): Issue {
  const shown = [...name.toWellFormed()].slice(0, 64).join("");
  const where = path === "" ? "" : ` in ${path}`;
  const near = allowed.length > 0 ? `; did you mean '${closest(shown, allowed)}'?` : "";
  return { path: path === "" ? shown : `${path}.${shown}`, message: `is no parameter${where}${near}` };
}

function fromZod(issue: z.core.$ZodIssue): Issue {
  const path = issue.path.reduce<string>(
    (text, step) =>
      typeof step === "number" ? `${text}[${step}]` : text === "" ? String(step) : `${text}.${String(step)}`,
    "",
  );
  return { path, message: issue.message };
}

function invalid(issues: Issue[], schema: JsonSchema): ToolError {
  const shown = issues.slice(0, mostIssues);
  const message = shown.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`)).join("; ");
  const allowed = Object.entries(schema.properties ?? {}).map(
    ([name, property]) => `${name} (${property.type ?? "any"}${schema.required?.includes(name) ? ", required" : ""})`,
  );
  return new ToolError("INVALID_INPUT", message, {
    hint: `Correct this and call again. Parameters: ${allowed.join(", ") || "none"}.`,
    details: { issues: shown },
  });
}
