import { OperatorError } from "../arguments.ts";

/*
 * Rows in files that people write too: what is there stays as it is, and a row goes where the order wants it.
 */

/** `call_agent` → `callAgent`. */
const identifierOf = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

const importRow = /^import \{ contract as (\w+) \} from "\.\/(\w+)\/contract\.ts";$/gm;
const listRow = /(export const contracts = \[)([^\]]*)(\] as const;)/;

/**
 * `functions/tools.ts` with one more tool. The formatter sorts the imports.
 * @throws {OperatorError} when the file has no longer the form that this knows
 */
export function withTool(text: string, name: string): string {
  const names = new Map([...text.matchAll(importRow)].map(([, identifier = "", tool = ""]) => [identifier, tool]));
  names.set(identifierOf(name), name);
  const [list, head = "", rows = "", tail = ""] = listRow.exec(text) ?? [];
  const listed = rows
    .split(",")
    .map((row) => row.trim())
    .filter((row) => row !== "");
  if (list === undefined || listed.some((identifier) => !names.has(identifier))) {
    throw new OperatorError(
      "functions/tools.ts is no longer a list of imported contracts, so that no row can be added.",
    );
  }
  const sorted = [...listed, identifierOf(name)].sort((a, b) => ((names.get(a) ?? "") < (names.get(b) ?? "") ? -1 : 1));
  const row = `import { contract as ${identifierOf(name)} } from "./${name}/contract.ts";\n`;
  return row + text.replace(list, `${head}\n${sorted.map((identifier) => `  ${identifier},`).join("\n")}\n${tail}`);
}

const vocabularyRow = /^ {2}([A-Z_]+): \[(\d+), (?:true|false)\],$/gm;

/** `functions/_runtime/errors.ts` with the types of error that it doesn't have yet, each behind others of its status. */
export function withErrors(text: string, types: readonly string[]): string {
  return types.reduce((vocabulary, type) => {
    const rows = [...vocabulary.matchAll(vocabularyRow)];
    if (rows.some(([, known]) => known === type)) return vocabulary;
    const status = statusOf(type);
    const before = rows.findLast(([, , other]) => Number(other) <= status);
    if (before === undefined) {
      throw new OperatorError(
        "functions/_runtime/errors.ts is no longer a list of statuses, so that no row can be added.",
      );
    }
    const end = before.index + before[0].length;
    return `${vocabulary.slice(0, end)}\n  ${type}: [${status}, false],${vocabulary.slice(end)}`;
  }, text);
}

/** What an error's name says of its status; 400 where it says nothing. */
const statuses: readonly [ending: RegExp, status: number][] = [
  [/_NOT_FOUND$/, 404],
  [/(_DENIED|_FORBIDDEN|_NOT_ALLOWED)$/, 403],
  [/(_EXISTS|_TAKEN|_CONFLICT|_CLOSED|_LOCKED)$/, 409],
  [/_TOO_LARGE$/, 413],
  [/_(LIMITED|EXCEEDED)$/, 429],
  [/_FAILED$/, 502],
  [/_TIMED_OUT$/, 504],
];

const statusOf = (type: string) => statuses.find(([ending]) => ending.test(type))?.[1] ?? 400;
