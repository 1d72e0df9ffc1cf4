import type { Construct } from "constructs";
import type { Contract } from "../../functions/_runtime/contract.ts";
import { toolEntry } from "../bundle.ts";
import type { Context } from "../context.ts";
import { abilitiesOfTool } from "../grants.ts";
import { idOf } from "../names.ts";
import { type Surroundings, SwitchboardFunction } from "./switchboard_function.ts";

/** The longest that an HTTP API waits for a function; `Prefer: wait` ends after 25 s, counted from its own clock. */
export const gatewayTimeoutS = 30;

/** Those whose answers others wait for. */
const repliers: readonly string[] = ["reply_call", "update_task"];

/**
 * The Lambda of one tool. All of it follows from the tool's contract: a tool that can wait gets the gateway's
 * whole 30 s and little memory, since it mostly sleeps and is billed for the time; every other answers at once,
 * and more memory also means more of a CPU.
 */
export class ToolFunction extends SwitchboardFunction {
  constructor(scope: Construct, contract: Contract, surroundings: Surroundings) {
    const { name } = contract;
    const waits = contract.defaultWaitS !== undefined;
    const abilities = abilitiesOfTool(contract);
    super(scope, idOf(name), {
      ...surroundings,
      name,
      entry: toolEntry(name),
      abilities,
      // What runs other tools takes as long as they may.
      timeoutS: waits || abilities.includes("runTools") ? gatewayTimeoutS : 15,
      memoryMb: waits ? 256 : 512,
      reservedConcurrency: reservedFor(contract, surroundings.context),
    });
  }
}

/** The concurrency that an operator sets apart for a tool. */
export function reservedFor({ name, defaultWaitS }: Contract, { reservedConcurrency }: Context): number | undefined {
  if (repliers.includes(name)) return reservedConcurrency.replying;
  return defaultWaitS === undefined ? undefined : reservedConcurrency.waiting;
}
