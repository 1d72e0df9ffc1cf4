import { closest, distance } from "fastest-levenshtein";
import * as z from "zod";

/** Something that the operator can set right; the message alone tells them what. */
export class OperatorError extends Error {
  override readonly name: string = "OperatorError";
}

/** What the operator typed can't be used; shown together with the command's usage. */
export class UsageError extends OperatorError {
  override readonly name = "UsageError";
}

/** Runs Node's `parseArgs`, and makes its complaint about what was typed a UsageError. */
export function parsing<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (error instanceof TypeError && "code" in error) throw new UsageError(error.message);
    throw error;
  }
}

/** A port number, or 0 where any free port will do. @throws {UsageError} */
export function readPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw new UsageError(`--port must be a number from 0 to 65535, not "${text}".`);
}

/** "Did you mean …?" when one of the names is near. */
export function suggestion(text: string, names: readonly string[]): string {
  if (names.length === 0) return "";
  const near = closest(text, names);
  return distance(text, near) <= 3 ? ` Did you mean ${near}?` : "";
}

/** Ends a command that failed: says what the operator needs to know, and no more than that. */
export function fail(error: unknown, usage: string): never {
  if (error instanceof UsageError) console.error(`${error.message}\n\n${usage}`);
  else if (error instanceof OperatorError) console.error(error.message);
  else if (error instanceof z.ZodError) console.error(`A setting is wrong:\n${z.prettifyError(error)}`);
  else if (error instanceof Error && "$metadata" in error) console.error(`AWS: ${error.name}: ${error.message}`);
  else console.error(error);
  process.exit(1);
}
