import { randomBytes } from "node:crypto";

/** The secret part of an API key: 192 random bits in hex. */
export const newSecret = () => randomBytes(24).toString("hex");
