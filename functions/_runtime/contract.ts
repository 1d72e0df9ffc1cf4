import type * as z from "zod";
import { commonErrors, type ErrorType } from "./errors.ts";

/** The permissions that a key can hold as scopes. */
export const permissions = [
  "agent:admin",
  "agent:read",
  "agent:call",
  "agent:receive",
  "task:assign",
  "task:update",
  "task:read",
  "schedule:read",
  "schedule:write",
  "repo:read",
  "approval:read",
  "approval:decide",
  "audit:read",
] as const;
export type Permission = (typeof permissions)[number];

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
  /** Seconds that the tool waits without a `Prefer` header; absent: it answers at once and cannot wait. */
  defaultWaitS?: number;
  /** On failure, output fields that repeat another input field than the one of their own name. */
  echo?: Record<string, keyof z.output<I> & string>;
  /** Paths that the seed document of this tool does not have, left out of `format=seed` on request. */
  additions?: { input: readonly string[]; output: readonly string[] };
}

/** States a contract: types flow from its name and schemas, and the common errors join its errorModel. */
export function defineContract<const N extends string, I extends z.ZodObject, O extends z.ZodObject>(
  contract: Contract<I, O> & { name: N },
): Contract<I, O> & { name: N } {
  return { ...contract, errorModel: { ...commonErrors, ...contract.errorModel } };
}
