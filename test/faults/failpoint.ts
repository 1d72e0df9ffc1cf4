/*
 * Loaded into a system before it starts. Once armed, the process is killed at its N-th write to the table or
 * the queue, before the write is sent or after it was committed, so that nobody gets to see its answer.
 */

interface Order {
  arm?: { write: number; when: "before" | "after" };
  sweep?: true;
}

process.on("message", async (order: Order) => {
  if (order.arm) await arm(order.arm);
  if (order.sweep) {
    const { handler } = await import("../../functions/_workers/sweep/handler.ts");
    await handler({});
  }
  process.send?.("done");
});

const isWrite = (command: string) => /^(Put|Update|Delete|Transact|BatchWrite|Send|ChangeMessage)/.test(command);

async function arm({ write, when }: NonNullable<Order["arm"]>): Promise<void> {
  // Loaded only now, when the system has set the environment that the clients read.
  const { dynamodb, sqs } = await import("../../functions/_runtime/clients.ts");
  let writes = 0;
  const failpoint =
    <Args, Result>(next: (args: Args) => Promise<Result>, { commandName = "" }: { commandName?: string }) =>
    async (args: Args): Promise<Result> => {
      const fatal = isWrite(commandName) && ++writes === write;
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
