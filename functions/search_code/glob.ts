import { RE2JS } from "re2js";
import { ToolError } from "../_runtime/errors.ts";

/**
 * Whether a path is among those that globs choose. Globs become RE2 expressions, which take linear time: libraries
 * for globs make backtracking ones, for which a pattern like `*a*a*a*a*b` from a caller never ends. Names that begin
 * with a dot are like any other.
 * @param globs `!` in front excludes; one without `/` is for names at any depth
 * @throws {ToolError} INVALID_PATTERN naming the glob
 */
export function pathFilter(globs: readonly string[]): (path: string) => boolean {
  const included = globs.filter((glob) => !glob.startsWith("!")).map(compiled);
  const excluded = globs.filter((glob) => glob.startsWith("!")).map((glob) => compiled(glob.slice(1)));
  return (path) =>
    (included.length === 0 || included.some((glob) => glob.testExact(path))) &&
    !excluded.some((glob) => glob.testExact(path));
}

function compiled(glob: string): RE2JS {
  const anchored = glob.replace(/^\/|^\.\//, "");
  const source = translated(glob.includes("/") ? anchored : `**/${anchored}`);
  try {
    return RE2JS.compile(source, RE2JS.DOTALL);
  } catch (error) {
    throw new ToolError(
      "INVALID_PATTERN",
      `paths: '${glob.slice(0, 60).toWellFormed()}' is no glob: ${(error as Error).message}`,
    );
  }
}

const piece = /\*\*\/|\*+|\?|\[[!^]?\]?(?:\\.|[^\]\\])*\]|\\.|[{},]|[^*?[\\{},]+|./gsu;

function translated(glob: string): string {
  let depth = 0;
  const open = (glob.match(/(?<!\\)\{/g) ?? []).length === (glob.match(/(?<!\\)\}/g) ?? []).length;
  return glob.replace(piece, (part) => {
    if (part === "**/") return "(?:.*/)?";
    if (part === "**") return ".*";
    if (part.startsWith("*")) return "[^/]*";
    if (part === "?") return "[^/]";
    if (part.length > 2 && part.startsWith("[")) return characterClass(part.slice(1, -1));
    if (part.length === 2 && part.startsWith("\\")) return RE2JS.quote(part.slice(1));
    if (open && part === "{") {
      depth += 1;
      return "(?:";
    }
    if (open && part === "}" && depth > 0) {
      depth -= 1;
      return ")";
    }
    if (part === "," && depth > 0) return "|";
    return RE2JS.quote(part);
  });
}

/** `[a-z]`, `[!a]`, `[^a]`: one character of a name, so never a slash. */
function characterClass(inside: string): string {
  const isNegated = /^[!^]/.test(inside);
  const characters = (isNegated ? inside.slice(1) : inside).replaceAll("[", "\\[");
  return isNegated ? `[^/${characters}]` : `[${characters}]`;
}
