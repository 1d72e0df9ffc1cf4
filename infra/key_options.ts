import { parseArgs } from "node:util";
import * as z from "zod";
import type { Permission } from "../functions/_runtime/contract.ts";
import { permissions } from "../functions/tools.ts";
import { parsing, suggestion, UsageError } from "./arguments.ts";
import { type Place, placeOptions, placeUsage, readPart, readPlace, readRepositoryId } from "./place.ts";

export const usage = `Usage: npm run keys -- <command> [options]

Commands:
  create   issue a key; its token is printed once and can't be shown again
  list     show a workspace's keys
  rotate   give a key (--id) a new secret; the old one stops at once
  revoke   stop a key (--id) at once and for good

Options:
${placeUsage}
  --id ID         the key's id, in a-z and 0-9; create makes one up
  --scopes S      create: permissions, separated by commas, or all
                  ${permissions.join(", ")}
  --agents A      create: agents that it may speak for, separated by commas, '*' for every agent, or none
  --repositories R
                  create: repositories that it may read, separated by commas, or '*' for every one (none)
  --actor WHO     create: the person or system behind the key (operator)
  --expires T     create: after a time (90m, 12h, 30d) or at an instant (2027-01-31T12:00:00Z)
  --rate N        create: at most N calls a minute
`;

const options = {
  ...placeOptions,
  id: { type: "string" },
  scopes: { type: "string" },
  agents: { type: "string" },
  repositories: { type: "string" },
  actor: { type: "string" },
  expires: { type: "string" },
  rate: { type: "string" },
  help: { type: "boolean" },
} as const;

const commands = ["create", "list", "rotate", "revoke"] as const;

/** What the operator wants done. */
export type KeyCommand =
  | ({ name: "create"; id: string | undefined } & Place & Grants)
  | ({ name: "list" } & Place)
  | ({ name: "rotate" | "revoke"; id: string } & Place);

interface Grants {
  scopes: Permission[];
  agents: string[];
  repositories: string[];
  actor: string;
  /** Instant in ms. */
  expires_at: number | undefined;
  rate_per_minute: number | undefined;
}

const meaningful: Record<(typeof commands)[number], readonly string[]> = {
  create: ["id", "scopes", "agents", "repositories", "actor", "expires", "rate"],
  list: [],
  rotate: ["id"],
  revoke: ["id"],
};

/** Reads a command line; undefined when it asks for help. @throws {UsageError} */
export function readCommand(args: readonly string[], nowMs: number): KeyCommand | undefined {
  const { values, positionals } = parsing(() => parseArgs({ args: [...args], options, allowPositionals: true }));
  if (values.help) return undefined;
  const name = readName(positionals);
  for (const option of Object.keys(values)) {
    if ([...Object.keys(placeOptions), ...meaningful[name]].includes(option)) continue;
    throw new UsageError(`--${option} means nothing to ${name}.`);
  }
  const place = readPlace(values);
  const id = values.id === undefined ? undefined : readPart("--id", values.id);
  if (name === "list") return { name, ...place };
  if (name === "create") return { name, id, ...place, ...readGrants(values, nowMs) };
  if (id === undefined) throw new UsageError(`${name} needs --id: which key?`);
  return { name, id, ...place };
}

function readName([name, ...rest]: readonly string[]): (typeof commands)[number] {
  if (name === undefined) throw new UsageError("Say what to do.");
  const command = commands.find((known) => known === name);
  if (!command) throw new UsageError(`There is no command "${name}".${suggestion(name, commands)}`);
  if (rest.length > 0)
    throw new UsageError(`"${rest.join(" ")}" is too much. Separate lists with commas only, and quote '*'.`);
  return command;
}

type Texts = Partial<Record<"scopes" | "agents" | "repositories" | "actor" | "expires" | "rate", string>>;

function readGrants(texts: Texts, nowMs: number): Grants {
  const { scopes, agents, repositories, actor = "operator", expires, rate } = texts;
  if (scopes === undefined) throw new UsageError("create needs --scopes: what may the key do?");
  if (agents === undefined) throw new UsageError("create needs --agents: for whom may the key speak?");
  if (!/^[^\p{C}]{1,200}$/u.test(actor)) throw new UsageError("--actor must be one line of at most 200 characters.");
  return {
    scopes: readScopes(scopes),
    agents: readAgents(agents),
    repositories: repositories === undefined ? [] : listed(repositories).map(readRepository),
    actor,
    expires_at: expires === undefined ? undefined : readExpiry(expires, nowMs),
    rate_per_minute: rate === undefined ? undefined : readRate(rate),
  };
}

const listed = (text: string) => text.split(",").map((entry) => entry.trim());

function readScopes(text: string): Permission[] {
  if (text === "all") return [...permissions];
  return listed(text).map((name) => {
    const permission = permissions.find((known) => known === name);
    if (permission) return permission;
    throw new UsageError(`There is no permission "${name}".${suggestion(name, permissions)}`);
  });
}

function readAgents(text: string): string[] {
  // No agent can be called so: models write it when they have none.
  if (text === "none") return [];
  const wrong = listed(text).find((name) => name !== "*" && !/^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(name));
  if (wrong === undefined) return listed(text);
  throw new UsageError(`"${wrong}" can't be an agent's name: letters, digits, _ and -, beginning with a letter.`);
}

const readRepository = (name: string) => (name === "*" ? name : readRepositoryId("--repositories", name));

const unitsMs: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** An instant needs its zone: read in this machine's own, it would mean another time elsewhere. */
const instant = z.union([
  z.iso.date(),
  z.iso.datetime({ offset: true }),
  z.iso.datetime({ offset: true, precision: -1 }),
]);

function readExpiry(text: string, nowMs: number): number {
  const [, amount, unit] = /^(\d{1,5})([mhd])$/.exec(text) ?? [];
  const at =
    unit === undefined
      ? instant.safeParse(text).success
        ? Date.parse(text)
        : Number.NaN
      : nowMs + Number(amount) * Number(unitsMs[unit]);
  if (Number.isNaN(at)) {
    throw new UsageError(`--expires must be like 90m, 12h, 30d or 2027-01-31T12:00:00Z, not "${text}".`);
  }
  if (at > nowMs) return at;
  throw new UsageError(`--expires ${text} is not in the future.`);
}

function readRate(text: string): number {
  const rate = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (rate >= 1) return rate;
  throw new UsageError(`--rate must be a whole number of calls a minute, at least 1, not "${text}".`);
}
