import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { OperatorError, UsageError } from "../arguments.ts";

/** Where running local systems leave a note of themselves, for the operators' commands on the same machine. */
const folder = join(import.meta.dirname, "../../.local");

const note = z.object({
  pid: z.number(),
  port: z.number(),
  url: z.string(),
  /** The settings with which `functions/` reaches this system's table and queue. */
  env: z.record(z.string(), z.string()),
});
export type RunningSystem = z.output<typeof note>;

const fileOf = (port: number) => join(folder, `${port}.json`);

/** Notes a running system; returns how to take the note away again. */
export function announce(system: RunningSystem): () => void {
  mkdirSync(folder, { recursive: true });
  const draft = `${fileOf(system.port)}.new`;
  writeFileSync(draft, JSON.stringify(system, undefined, 2), { mode: 0o600 });
  // Renamed into place: a command that looks now finds it whole or not at all.
  renameSync(draft, fileOf(system.port));
  return () => rmSync(fileOf(system.port), { force: true });
}

/** The local systems that run now. Notes of those that were killed are removed. */
export function runningSystems(): RunningSystem[] {
  return noteFiles().flatMap((file) => {
    const system = readNote(file);
    if (system && isAlive(system.pid)) return [system];
    rmSync(file, { force: true });
    return [];
  });
}

function readNote(file: string): RunningSystem | undefined {
  try {
    return note.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    return undefined; // Damaged, or gone since it was listed: nothing can be read from it.
  }
}

/** The running system that an operator's command means. @throws {OperatorError} */
export function theSystem(port: number | undefined): RunningSystem {
  const running = runningSystems();
  const [system, ...others] = running.filter((each) => port === undefined || each.port === port);
  if (!system) {
    const where = port === undefined ? "" : ` on port ${port}`;
    throw new OperatorError(`No local Switchboard is running${where}. Start one with: npm start`);
  }
  if (others.length === 0) return system;
  const ports = running.map((each) => each.port).join(", ");
  throw new UsageError(`Several local Switchboards are running, on ports ${ports}. Say which one with --port.`);
}

function noteFiles(): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => /^\d+\.json$/.test(name))
      .map((name) => join(folder, name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It runs, as another user.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
