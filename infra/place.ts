import { isRepositoryId } from "../functions/_table/keys.ts";
import { readPort, UsageError } from "./arguments.ts";
import { stageNamePattern } from "./names.ts";
import type { Place as System } from "./systems.ts";

/** Where an operator's command works: which system, and which tenant there. */
export interface Place extends System {
  workspace: string;
}

/** The options of `parseArgs` that name a system. */
export const systemOptions = { stage: { type: "string" }, port: { type: "string" } } as const;

/** The options of `parseArgs` that name a system and a tenant there. */
export const placeOptions = { workspace: { type: "string" }, ...systemOptions } as const;

export const systemUsage = `\
  --stage NAME    a deployed stage, reached with your AWS credentials; without it, the local system
  --port N        the local system, when several run`;

export const placeUsage = `\
  --workspace W   the tenant; local unless --stage is given
${systemUsage}`;

type Texts<O> = Partial<Record<keyof O, string>>;

/** @throws {UsageError} */
export function readSystem({ stage, port }: Texts<typeof systemOptions>): System {
  if (stage !== undefined && port !== undefined) throw new UsageError("--stage and --port name two systems.");
  if (stage !== undefined && !stageNamePattern.test(stage)) throw new UsageError(`"${stage}" can't be a stage's name.`);
  return { stage, port: port === undefined ? undefined : readPort(port) };
}

/** @throws {UsageError} */
export function readPlace({ workspace, ...system }: Texts<typeof placeOptions>): Place {
  if (system.stage !== undefined && workspace === undefined) {
    throw new UsageError("--stage needs --workspace: which tenant?");
  }
  return { workspace: readPart("--workspace", workspace ?? "local"), ...readSystem(system) };
}

/** A part of a key's token. @throws {UsageError} */
export function readPart(option: string, text: string): string {
  if (/^[a-z0-9]{1,64}$/.test(text)) return text;
  throw new UsageError(`${option} must be 1 to 64 of a-z and 0-9, not "${text}".`);
}

/** @throws {UsageError} */
export function readRepositoryId(option: string, text: string): string {
  if (isRepositoryId(text)) return text;
  throw new UsageError(
    `${option}: "${text}" can't be a repository's name: 1 to 64 letters, digits, ., _ and -, not beginning with a sign.`,
  );
}
