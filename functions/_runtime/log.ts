import { Logger } from "@aws-lambda-powertools/logger";

const root = new Logger({ serviceName: "switchboard" });
export type Log = Logger;

/** A logger of one invocation's own: keys put on it never show in another's lines. */
export const logFor = (keys: Record<string, string>): Log => root.createChild({ persistentKeys: keys });
