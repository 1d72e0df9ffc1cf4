/*
 * What the functions ask of DynamoDB and SQS, as their own SDK clients send it: seen by middleware, so that every
 * figure and floor stays true to the code.
 */

/** One command to an engine. */
export interface Operation {
  service: "dynamodb" | "sqs";
  /** For example `GetItem`. */
  command: string;
  /** As it goes over the wire; DynamoDB's attribute values with their types. */
  input: Record<string, unknown>;
  /** Units as the engine reports them (`ReturnConsumedCapacity`); none where it refused the command. */
  readUnits: number;
  writeUnits: number;
  /** Items that were read. */
  items: number;
  /** The engine refused it, for example since a condition did not hold. */
  refused: boolean;
  /** Instants of `performance.now()`, in ms. */
  startedAt: number;
  endedAt: number;
}

interface Capacity {
  CapacityUnits?: number;
}

interface Output {
  ConsumedCapacity?: Capacity | Capacity[];
  Item?: unknown;
  Items?: unknown[];
  Responses?: Record<string, unknown[]>;
}

type Next = (args: { input: Record<string, unknown> }) => Promise<{ output: Output }>;
type Middleware = (next: Next, context: { commandName?: string }) => Next;

/** The stacks of the two clients have types of their own, which differ in nothing that is used here. */
interface Client {
  middlewareStack: {
    add(middleware: Middleware, options: { step: "serialize"; priority: "high"; name: string }): void;
    remove(name: string): boolean;
  };
}

const reads = new Set(["GetItem", "BatchGetItem", "Query", "Scan", "TransactGetItems"]);
const middlewareName = "recordOperations";

/**
 * Reports each command of the functions in this process once it has ended, until the returned function is called.
 * The functions' clients read the environment when they are loaded: start the system first.
 */
export async function recordOperations(report: (operation: Operation) => void): Promise<() => void> {
  const loaded = await import("../../functions/_runtime/clients.ts");
  const clients: Record<Operation["service"], unknown> = { dynamodb: loaded.dynamodb, sqs: loaded.sqs };
  const stacks = Object.entries(clients).map(([service, client]) => {
    const { middlewareStack } = client as Client;
    middlewareStack.add(recorder(service as Operation["service"], report), {
      // Below the SDK's own retries, the wire would see each try; above the marshalling, no attribute types.
      step: "serialize",
      priority: "high",
      name: middlewareName,
    });
    return middlewareStack;
  });
  return () => {
    for (const stack of stacks) stack.remove(middlewareName);
  };
}

function recorder(service: Operation["service"], report: (operation: Operation) => void): Middleware {
  return (next, { commandName = "" }) =>
    async (args) => {
      const command = commandName.replace(/Command$/, "");
      const startedAt = performance.now();
      const done = (output: Output, refused: boolean) => {
        const units = unitsOf(output);
        report({
          service,
          command,
          input: args.input,
          readUnits: reads.has(command) ? units : 0,
          writeUnits: reads.has(command) ? 0 : units,
          items: itemsOf(output),
          refused,
          startedAt,
          endedAt: performance.now(),
        });
      };
      const more = service === "dynamodb" ? { ReturnConsumedCapacity: "TOTAL" } : {};
      try {
        const result = await next({ ...args, input: { ...args.input, ...more } });
        done(result.output, false);
        return result;
      } catch (error) {
        done({}, true);
        throw error;
      }
    };
}

const unitsOf = ({ ConsumedCapacity = [] }: Output) =>
  [ConsumedCapacity].flat().reduce((sum, { CapacityUnits = 0 }) => sum + CapacityUnits, 0);

const itemsOf = ({ Item, Items = [], Responses = {} }: Output) =>
  (Item === undefined ? 0 : 1) + Items.length + Object.values(Responses).flat().length;

const isRead = ({ command }: Operation) => reads.has(command);

/** Two reads that ask the same. */
const question = ({ command, input }: Operation) => `${command} ${JSON.stringify(input)}`;

/** An operation, and which run of a function asked for it. */
export interface Entry extends Operation {
  by: string;
}

/**
 * Without the looks that found nothing yet: reads that a function repeats, word for word, before it has done
 * anything else. The last of them stays, since it found what was waited for.
 */
export function withoutWaiting(entries: readonly Entry[]): Entry[] {
  const kept = new Set(entries);
  const asked = new Map<string, Map<string, Entry>>();
  for (const entry of entries) {
    const since = asked.get(entry.by) ?? new Map<string, Entry>();
    const before = since.get(question(entry));
    if (before !== undefined) kept.delete(before);
    asked.set(entry.by, isRead(entry) ? since.set(question(entry), entry) : new Map());
  }
  return [...kept];
}

/** For a way between processes that knows no sets. */
export const pack = (entries: readonly Entry[]): string =>
  JSON.stringify(entries, (_, value: unknown) => (value instanceof Set ? { $set: [...value] } : value));

export const unpack = (text: string): Entry[] =>
  JSON.parse(text, (_, value: { $set?: unknown[] } | null) =>
    value?.$set === undefined ? value : new Set(value.$set),
  );
