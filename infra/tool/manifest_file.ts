import { readFileSync } from "node:fs";
import {
  findNodeAtLocation,
  getNodeValue,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser";
import type * as z from "zod";
import { OperatorError } from "../arguments.ts";

type Path = readonly (string | number)[];

/** Where something stands in the file, counted from 1. */
type Locate = (path: Path) => string;

/** A manifest as it was read, which still knows where each part stood. */
export interface ManifestFile {
  value: unknown;
  /** `file:line:column` of what stands at a path, or of what is around it when there is nothing. */
  locate: Locate;
}

/**
 * Reads a manifest as people write them: JSON with comments, trailing commas, a byte order mark, any line ends.
 * A document that doesn't begin with an object holds the manifest somewhere in its prose (as seed 002 does): then it
 * is the first object that begins at a line's start.
 * @throws {OperatorError} naming file, line and column
 */
export function readManifestFile(file: string): ManifestFile {
  const text = decoded(file);
  const at = (offset: number) => `${file}:${position(text, offset)}`;
  const tree = parsedObject(text, file, at);
  refuseUnsound(tree, at);
  return { value: getNodeValue(tree), locate: (path) => at(nearest(tree, path).offset) };
}

/** @throws {OperatorError} with one line for each fault, each with its place in the file */
export function refuse(
  faults: readonly { path: Path; message: string }[],
  { locate }: Pick<ManifestFile, "locate">,
): never {
  throw new OperatorError(faults.map(({ path, message }) => `${locate(path)}: ${message}`).join("\n"));
}

/** A path as people write it: `params[0].items.type`. */
export const shown = (path: Path) =>
  path.reduce<string>((text, step) => {
    if (typeof step === "number") return `${text}[${step}]`;
    return text === "" ? step : `${text}.${step}`;
  }, "") || "the manifest";

/** Parses what a manifest says. @throws {OperatorError} naming each fault and its place */
export function parseManifest<S extends z.ZodType>(
  schema: S,
  file: ManifestFile,
  explain: (issue: z.core.$ZodIssue) => { path: Path; message: string }[],
): z.output<S> {
  const parsed = schema.safeParse(file.value);
  return parsed.success ? parsed.data : refuse(parsed.error.issues.flatMap(explain), file);
}

function decoded(file: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(file));
  } catch (error) {
    if (error instanceof TypeError) throw new OperatorError(`${file} is not UTF-8. Save it in that encoding.`);
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") throw new OperatorError(`There is no file ${file}.`);
    if (code === "EISDIR") throw new OperatorError(`${file} is a directory. Name a manifest's file.`);
    throw error;
  }
}

function parsedObject(text: string, file: string, at: (offset: number) => string): Node {
  const whole = parsed(text, 0, file);
  const isProse = whole.errors.some(({ offset }) => whole.root === undefined || offset < whole.root.offset);
  const start = isProse ? text.search(/^\{/m) : 0;
  if (start < 0) throw new OperatorError(`${file} holds no JSON object. A manifest is one, from its { to its }.`);
  const { root, errors } = isProse ? parsed(text, start, file) : whole;
  const end = isProse && root ? root.offset + root.length : Number.POSITIVE_INFINITY;
  const [wrong] = errors.filter(({ offset }) => offset < end);
  if (wrong) {
    const what = printParseErrorCode(wrong.error).replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
    throw new OperatorError(`${at(wrong.offset)}: ${what}. This is not JSON; correct it there, or just before.`);
  }
  if (root?.type === "object") return root;
  throw new OperatorError(`${at(root?.offset ?? 0)}: a manifest is a JSON object, from its { to its }.`);
}

/** Prose before the object becomes spaces, so that every offset is the one in the text. */
function parsed(text: string, start: number, file: string): { root: Node | undefined; errors: ParseError[] } {
  const errors: ParseError[] = [];
  const json = text.slice(0, start).replaceAll(/[^\r\n]/g, " ") + text.slice(start);
  try {
    return { root: parseTree(json, errors, { allowTrailingComma: true }), errors };
  } catch (error) {
    // The parser goes down level by level, too.
    if (error instanceof RangeError) throw new OperatorError(`${file}: this is nested too deep for a manifest.`);
    throw error;
  }
}

/** No tool's schema is near it, and what reads a manifest goes down level by level. */
const deepest = 100;

/**
 * What JSON allows and no manifest means: two values under one name, of which readers silently keep the last; half of a
 * character; nesting without end.
 */
function refuseUnsound(node: Node, at: (offset: number) => string, depth = 0): void {
  if (depth > deepest) throw new OperatorError(`${at(node.offset)}: this is nested too deep for a manifest.`);
  if (typeof node.value === "string" && !node.value.isWellFormed()) {
    throw new OperatorError(`${at(node.offset)}: this text holds half of a character (a lone surrogate).`);
  }
  const seen = new Set<unknown>();
  for (const child of node.children ?? []) {
    const [key] = child.type === "property" ? (child.children ?? []) : [];
    if (key && seen.has(key.value)) {
      throw new OperatorError(`${at(key.offset)}: "${key.value}" stands here a second time. Keep one of them.`);
    }
    if (key?.value === "__proto__") throw new OperatorError(`${at(key.offset)}: "__proto__" can't be a key.`);
    if (key) seen.add(key.value);
    refuseUnsound(child, at, depth + 1);
  }
}

/** What stands at the path: a property's name where there is one, else whatever is around it. */
function nearest(tree: Node, path: Path): Node {
  const found = findNodeAtLocation(tree, [...path]);
  if (found === undefined) return path.length === 0 ? tree : nearest(tree, path.slice(0, -1));
  return found.parent?.type === "property" ? found.parent : found;
}

function position(text: string, offset: number): string {
  const lines = text.slice(0, offset).split(/\r\n|\r|\n/);
  return `${lines.length}:${(lines.at(-1) ?? "").length + 1}`;
}
