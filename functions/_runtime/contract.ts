import type * as z from "zod";
import { approvalErrors, commonErrors, type ErrorType } from "./errors.ts";
import { gradingFaults } from "./risk.ts";

/** What a tool needs and a key holds as a scope, for example `repo:read`. */
export type Permission = `${string}:${string}`;
const permissionPattern = /^[a-z][a-z0-9_]*:[a-z][a-z0-9_]*$/;

/** Whether a text can be a permission: a subject and what is done to it, in lower case. */
export const isPermission = (text: string): text is Permission => permissionPattern.test(text);

/** The permissions that there are, sorted: exactly those that a tool needs. */
export const permissionsOf = (contracts: readonly Contract[]): Permission[] =>
  [...new Set(contracts.flatMap(({ permissions }) => permissions))].sort();

/** Texts of a tool in another language; parameter paths look like `tasks[].name`. */
interface Locale {
  title: string;
  description: string;
  category: string;
  input: Record<string, string>;
  output: Record<string, string>;
}

/**
 * Everything that a tool is, except what it does. Manifests, the catalog, validation and authorisation
 * are derived from it. Fields come from the two seed formats: the agent tools' manifests (name, title,
 * type, category, group, main, params, returns) and the Tool Definition template (the rest).
 */
export interface Contract<I extends z.ZodObject = z.ZodObject, O extends z.ZodObject = z.ZodObject> {
  name: string;
  title: string;
  displayName: string;
  /** Says what it does and when to use it; at most 1,024 characters in each language. */
  description: string;
  version: string;
  type: "function";
  category: string;
  group: string;
  main: string;
  riskLevel: "low" | "medium" | "high";
  idempotent: boolean;
  sideEffect: "none" | "internal" | "external";
  requiresApproval: boolean;
  permissions: readonly Permission[];
  audience: "agent" | "operator";
  input: I;
  /**
   * Of agent tools it begins with `code` and `msg`, and the runtime adds the optional `error`. One without `code` is
   * answered as it is, and a failure of that tool is `{error}` alone.
   */
  output: O;
  errorModel: Partial<Record<ErrorType, string>>;
  examples: readonly { input: z.input<I>; output: z.input<O> }[];
  locales: { "zh-CN": Locale };
  /** The input field whose agent speaks: the key must be allowed to speak for it (design 5.1). */
  speaker?: keyof z.output<I> & string;
  /**
   * Returns that are for the one who asks alone. What an approved run answers, others read and the table keeps, so they
   * are empty there; the one who asked gets them by repeating the request.
   */
  secrets?: readonly (keyof z.output<O> & string)[];
  /** Seconds that the tool waits without a `Prefer` header; absent: it answers at once and cannot wait. */
  defaultWaitS?: number;
  /** On failure, output fields that repeat another input field than the one of their own name. */
  echo?: Record<string, keyof z.output<I> & string>;
  /** Paths that the seed document of this tool does not have, left out of `format=seed` on request. */
  additions?: { input: readonly string[]; output: readonly string[] };
}

/**
 * States a contract: types flow from its name and schemas, and the common errors join its errorModel, with those of
 * approvals for what changes something: only that can be held back.
 * @throws {TypeError} when it grades its risk against the rules: such a tool neither starts, nor passes a test, nor deploys
 */
export function defineContract<const N extends string, I extends z.ZodObject, O extends z.ZodObject>(
  contract: Contract<I, O> & { name: N },
): Contract<I, O> & { name: N } {
  const faults = gradingFaults(contract);
  if (faults.length > 0) throw new TypeError(`Contract of ${contract.name}: ${faults.join("; ")}.`);
  const governance = contract.sideEffect === "none" ? {} : approvalErrors;
  return { ...contract, errorModel: { ...commonErrors, ...governance, ...contract.errorModel } };
}
