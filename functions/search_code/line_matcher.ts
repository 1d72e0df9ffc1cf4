import { RE2JS } from "re2js";
import { fold } from "../_repositories/trigrams.ts";
import { ToolError } from "../_runtime/errors.ts";
import { folded, holds, type Need, neededText } from "./needed_text.ts";

/** Finds the first match in a line, and says what a line with a match must hold. */
export interface LineMatcher {
  need: Need;
  /** False when no line of a text can match; a cheap look at all of it. */
  mayMatch(text: string): boolean;
  /** Where the first match begins in a line, in UTF-16 units; -1 when there is none. */
  indexIn(line: string): number;
}

interface Asked {
  query: string;
  regex: boolean;
  caseSensitive: boolean;
}

/** @throws {ToolError} INVALID_PATTERN */
export function lineMatcher({ query, regex, caseSensitive }: Asked): LineMatcher {
  if (!regex && /[\r\n]/.test(query)) {
    throw new ToolError("INVALID_PATTERN", "query: holds a line end, but a match lies within one line.", {
      hint: "Search for one of the lines, then use read_file_range.",
    });
  }
  const need: Need = regex ? neededText(query) : { text: query };
  if (!regex && caseSensitive) {
    return { need, mayMatch: (text) => text.includes(query), indexIn: (line) => line.indexOf(query) };
  }
  const expression = compiled(regex ? query : RE2JS.quote(query), caseSensitive);
  const mayMatch = screen(need, caseSensitive && !(regex && /\(\?\w*i/.test(query)));
  // Cheapest first: most lines lack what is needed, and of the others most have no match, which is cheaper to tell than where.
  return {
    need,
    mayMatch,
    indexIn: (line) => (mayMatch(line) && expression.test(line) ? firstIndex(expression, line) : -1),
  };
}

/** Tells texts that can't match by what they lack, far faster than any expression is run. */
function screen(need: Need, caseSensitive: boolean): LineMatcher["mayMatch"] {
  if (caseSensitive) return (text) => holds(need, text);
  const inFolded = folded(need);
  return (text) => holds(inFolded, fold(text));
}

function firstIndex(expression: RE2JS, line: string): number {
  const matcher = expression.matcher(line);
  return matcher.find() ? matcher.start() : -1;
}

function compiled(pattern: string, caseSensitive: boolean): RE2JS {
  try {
    return RE2JS.compile(pattern, caseSensitive ? 0 : RE2JS.CASE_INSENSITIVE);
  } catch (error) {
    throw new ToolError("INVALID_PATTERN", `query: ${(error as Error).message}.`);
  }
}
