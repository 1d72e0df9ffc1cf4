import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { fail, parsing, readPort, UsageError } from "../arguments.ts";
import { fromOperator } from "./environment.ts";
import { announce } from "./registry.ts";
import type { TopicNotice } from "./sns.ts";
import { startSystem } from "./system.ts";

const usage = `Usage: npm start [-- options]

Runs the whole system on 127.0.0.1, without an AWS account.

  --port N     port of the HTTP API (8787); 0 takes a free one
  --data DIR   keep data, key and secrets in DIR; without it everything is in memory
  --demo       register some agents, play one assignment and say what happens
  --help

Environment:
  SWITCHBOARD_KEY     the key that may do everything: sb_<workspace>_<id>_<secret>
  DYNAMODB_ENDPOINT   a DynamoDB that runs already (Amazon DynamoDB Local), instead of the bundled engine
  and each setting in functions/_runtime/env.ts, for example CALLS_PER_SESSION
`;

function readArguments() {
  const { values } = parsing(() =>
    parseArgs({
      options: {
        port: { type: "string", default: "8787" },
        data: { type: "string" },
        demo: { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    }),
  );
  if (values.data === "") throw new UsageError("--data needs the name of a directory.");
  return { ...values, port: readPort(values.port), data: values.data && resolve(values.data) };
}

async function main(): Promise<void> {
  const { port, data, demo, help } = readArguments();
  if (help) return void console.log(usage);
  const { key, dynamodbEndpoint, tableName } = fromOperator();
  const onNotice = ({ subject, message }: TopicNotice) => console.log(`\n${subject}\n${message}\n`);
  const system = await startSystem({ port, dataDir: data, key, dynamodbEndpoint, tableName, onNotice });
  const withdraw = announce({ pid: process.pid, port: system.port, url: system.url, env: system.env });
  stopOnSignal(async () => {
    withdraw();
    await system.stop();
  });
  console.log(welcome(system.url, system.key, data));
  if (demo) {
    const { playDemo } = await import("./demo.ts");
    await playDemo(system.url, system.key);
  }
}

/** A first signal stops in order, a second one at once. */
function stopOnSignal(stop: () => Promise<void>): void {
  let stopping = false;
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      if (stopping) process.exit(1);
      stopping = true;
      stop().then(
        () => process.exit(0),
        (error: unknown) => fail(error, usage),
      );
    });
  }
}

const welcome = (url: string, key: string, data: string | undefined) => `
Switchboard is running at ${url}
Key (may do everything): ${key}
Data: ${data ?? "in memory, gone when this stops (--data DIR keeps it)"}

Try it:

  curl ${url}/v1/tools/register_agent \\
    -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' \\
    -d '{"agent_name": "writer", "role": "member", "skills": ["copywriting"]}'

Stop with Ctrl-C.
`;

main().catch((error: unknown) => fail(error, usage));
