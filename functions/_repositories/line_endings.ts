/** How a file's lines end; `mixed` has both, `none` not a single end. Contracts name them, so nothing else is here. */
export const lineEndings = ["lf", "crlf", "mixed", "none"] as const;
