import { randomUUID } from "node:crypto";
import { parseArgs } from "node:util";
import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageCommand,
} from "@aws-sdk/client-sqs";
import { fail, parsing } from "./arguments.ts";
import { readSystem, systemOptions, systemUsage } from "./place.ts";
import { deadLettersOf } from "./queues.ts";
import { connect } from "./systems.ts";

const usage = `Usage: npm run redrive [-- options]

Puts what is in the dead-letter queue of a local system or a deployed stage back into its message queue, in
order. What is no wake-up stays there and is shown, since it would only come back.

  --all           put back also what is no wake-up
${systemUsage}
  --help
`;

const options = {
  all: { type: "boolean", default: false },
  ...systemOptions,
  help: { type: "boolean" },
} as const;

async function main(): Promise<void> {
  const { values } = parsing(() => parseArgs({ options }));
  if (values.help) return void console.log(usage);
  const env = await connect(readSystem(values));
  const { moved, kept } = await redrive(String(env.MESSAGES_QUEUE_URL), values.all);
  for (const { MessageId, Body = "" } of kept) console.log(`No wake-up: ${MessageId} ${JSON.stringify(begin(Body))}`);
  console.log(`${counted(moved)} put back.`);
  if (kept.length > 0) console.log(`${counted(kept.length)} left in the dead-letter queue; --all puts them back too.`);
}

const counted = (count: number) => `${count} ${count === 1 ? "message" : "messages"}`;
const begin = (text: string) => [...text].slice(0, 80).join("");

/** Longer than a run takes: what is kept must not come again within it. */
const hiddenS = 300;

/** Moves message by message; each is sent before it is deleted, so that none is lost when this ends in between. */
async function redrive(queueUrl: string, all: boolean): Promise<{ moved: number; kept: Message[] }> {
  // Loaded only now: its clients read the environment.
  const { sqs } = await import("../functions/_runtime/clients.ts");
  const QueueUrl = deadLettersOf(queueUrl);
  const receive = new ReceiveMessageCommand({
    QueueUrl,
    MaxNumberOfMessages: 10,
    VisibilityTimeout: hiddenS,
    MessageSystemAttributeNames: ["MessageGroupId"],
  });
  const kept: Message[] = [];
  let moved = 0;
  try {
    for (;;) {
      const { Messages = [] } = await sqs.send(receive);
      if (Messages.length === 0) return { moved, kept };
      for (const message of Messages) {
        if (!all && !(await isWakeUp(message))) {
          kept.push(message);
          continue;
        }
        await sqs.send(new SendMessageCommand({ QueueUrl: queueUrl, ...again(message) }));
        await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: message.ReceiptHandle }));
        moved += 1;
      }
    }
  } finally {
    for (const { ReceiptHandle } of kept)
      await sqs.send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout: 0 }));
  }
}

async function isWakeUp({ Body = "" }: Message): Promise<boolean> {
  const { readWakeUp } = await import("../functions/_delivery/wake_up.ts");
  return readWakeUp(Body).success;
}

/** The same message in the same group; with its old dedup id SQS would drop it for five minutes. */
const again = ({ Body, Attributes }: Message) => ({
  MessageBody: Body,
  MessageGroupId: Attributes?.MessageGroupId,
  MessageDeduplicationId: randomUUID(),
});

main().catch((error: unknown) => fail(error, usage));
