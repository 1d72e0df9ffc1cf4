/** One command on its way from the functions to AWS. */
interface Command {
  /** For example `UpdateItemCommand`. */
  name: string;
  // biome-ignore lint/suspicious/noExplicitAny: inputs of all commands of these clients.
  input: any;
  /** Sends it; what AWS answers. */
  send(): Promise<Answer>;
}

export interface Answer {
  // biome-ignore lint/suspicious/noExplicitAny: outputs of all commands of these clients.
  output: any;
  response: unknown;
}

/** What an intercepted command is answered with, in AWS's place. */
export const answered = (output: object): Answer => ({ output, response: undefined });

type Service = "dynamodb" | "sqs" | "lambda" | "scheduler" | "sns";
type Between = (command: Command) => Promise<Answer>;

/** Of each client and level, in the order they came. */
const chains = new Map<string, Between[]>();

/**
 * Puts a function between the functions and one of their AWS clients, outside of those that are there already.
 * @param level `command` sees each command once; `wire` sees each try of it, below the SDK's own retries
 * @returns how to take it away again
 */
export async function intercept(
  service: Service,
  between: Between,
  level: "command" | "wire" = "command",
): Promise<() => void> {
  const chain = chains.get(`${service} ${level}`) ?? [];
  if (chain.length === 0) await attach(service, level, chain);
  chains.set(`${service} ${level}`, chain);
  chain.push(between);
  return () => {
    const at = chain.indexOf(between);
    if (at >= 0) chain[at] = (command) => command.send();
  };
}

async function attach(service: Service, level: "command" | "wire", chain: readonly Between[]) {
  // Loaded only now, when the system has set the environment that the clients read.
  const { middlewareStack } = (await import("../../functions/_runtime/clients.ts"))[service] as unknown as Client;
  const step = level === "wire" ? "finalizeRequest" : "initialize";
  const middleware: Middleware = (next, { commandName: name = "" }) => {
    return async (args) => {
      const from = async (index: number): Promise<Answer> =>
        chain[index]?.({ name, input: args.input, send: () => from(index - 1) }) ?? next(args);
      return from(chain.length - 1);
    };
  };
  middlewareStack.add(middleware, { step, priority: "low" });
}

type Middleware = (
  next: (args: { input: object }) => Promise<Answer>,
  context: { commandName?: string },
) => (args: { input: object }) => Promise<Answer>;

/** The stacks of the clients have types of their own, which differ in nothing that is used here. */
interface Client {
  middlewareStack: {
    add(middleware: Middleware, options: { step: string; priority: string }): void;
  };
}

/** Counts as what AWS says when it is asked too often. */
export const throttled = () => Object.assign(new Error("Rate exceeded"), { name: "ThrottlingException" });

/** The connection broke before an answer came: the command may have been carried out or not. */
export const lost = () => Object.assign(new Error("socket hang up"), { code: "ECONNRESET" });
