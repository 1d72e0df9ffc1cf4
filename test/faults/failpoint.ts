/*
 * Loaded into a system before it starts. Once armed, the process is killed at its N-th write to the table or
 * the queue, before the write is sent or after it was committed, so that nobody gets to see its answer.
 */

interface Order {
  arm?: { write: number; when: "before" | "after" };
  sweep?: true;
  /** Issues a key for a person who decides on approvals. */
  decider?: { secret: string };
}

process.on("message", async (order: Order) => {
  if (order.arm) await arm(order.arm);
  if (order.decider) {
    const { createApiKey } = await import("../../functions/_table/api_keys.ts");
    const key = {
      workspace: "local",
      id: "boss",
      scopes: ["approval:decide" as const],
      agents: [],
      repositories: [],
      actor: "boss",
    };
    await createApiKey(key, order.decider.secret, Date.now());
  }
  if (order.sweep) {
    const { handler } = await import("../../functions/_workers/sweep/handler.ts");
    await handler({});
  }
  process.send?.("done");
});

const isWrite = (command: string) => /^(Put|Update|Delete|Transact|BatchWrite|Send|ChangeMessage)/.test(command);
/** The last write of every invocation: to be killed there is to be killed after the one before. */
const isAudit = (args: object) => JSON.stringify(args).includes('"AUDIT#');

async function arm({ write, when }: NonNullable<Order["arm"]>): Promise<void> {
  // Loaded only now, when the system has set the environment that the clients read.
  const { dynamodb, sqs } = await import("../../functions/_runtime/clients.ts");
  let writes = 0;
  const failpoint =
    <Args extends object, Result>(
      next: (args: Args) => Promise<Result>,
      { commandName = "" }: { commandName?: string },
    ) =>
    async (args: Args): Promise<Result> => {
      const fatal = isWrite(commandName) && !isAudit(args) && ++writes === write;
      if (fatal && when === "before") die();
      const result = await next(args);
      if (fatal) die();
      return result;
    };
  dynamodb.middlewareStack.add(failpoint, { step: "initialize" });
  sqs.middlewareStack.add(failpoint, { step: "initialize" });
}

function die(): never {
  process.kill(process.pid, "SIGKILL");
  throw new Error("killed");
}
