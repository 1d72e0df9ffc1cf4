import { readPort, UsageError } from "./arguments.ts";
import { stageNamePattern } from "./names.ts";
import type { Place as System } from "./systems.ts";

/** Where an operator's command works: which system, and which tenant there. */
export interface Place extends System {
  workspace: string;
}

/** The options of `parseArgs` that name it. */
export const placeOptions = {
  workspace: { type: "string" },
  stage: { type: "string" },
  port: { type: "string" },
} as const;

export const placeUsage = `\
  --workspace W   the tenant; local unless --stage is given
  --stage NAME    a deployed stage, reached with your AWS credentials; without it, the local system
  --port N        the local system, when several run`;

/** @throws {UsageError} */
export function readPlace({ workspace, stage, port }: Partial<Record<keyof typeof placeOptions, string>>): Place {
  if (stage !== undefined && port !== undefined) throw new UsageError("--stage and --port name two systems.");
  if (stage !== undefined && !stageNamePattern.test(stage)) throw new UsageError(`"${stage}" can't be a stage's name.`);
  if (stage !== undefined && workspace === undefined) throw new UsageError("--stage needs --workspace: which tenant?");
  return {
    workspace: readPart("--workspace", workspace ?? "local"),
    stage,
    port: port === undefined ? undefined : readPort(port),
  };
}

/** A part of a key's token. @throws {UsageError} */
export function readPart(option: string, text: string): string {
  if (/^[a-z0-9]{1,64}$/.test(text)) return text;
  throw new UsageError(`${option} must be 1 to 64 of a-z and 0-9, not "${text}".`);
}
