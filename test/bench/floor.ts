import { ConditionalCheckFailedException, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import {
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  type SendMessageBatchCommandInput,
  SQSClient,
} from "@aws-sdk/client-sqs";
import {
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import { localClient } from "../../infra/local/client_config.ts";
import { createQueues } from "../../infra/local/queues.ts";
import { criticalPath } from "./critical_path.ts";
import { type Entry, type Operation, pack, unpack, withoutWaiting } from "./operations.ts";

/*
 * The floor under a figure: the engine operations that the system makes for it, as they were recorded, taken again
 * one after another by the same SDK on the same engines, with nothing else around them.
 */

// biome-ignore lint/suspicious/noExplicitAny: the classes differ in the types of their inputs only.
const commands: Record<string, new (input: any) => any> = {
  GetItem: GetCommand,
  BatchGetItem: BatchGetCommand,
  Query: QueryCommand,
  PutItem: PutCommand,
  UpdateItem: UpdateCommand,
  DeleteItem: DeleteCommand,
  BatchWriteItem: BatchWriteCommand,
  TransactWriteItems: TransactWriteCommand,
};

const isAuditEvent = ({ command, input }: Operation) =>
  command === "PutItem" && String((input.Item as { PK?: unknown }).PK).startsWith("AUDIT#");

export interface Floor {
  /** The operations, by command, in their order; the queue's receive and delete included. */
  sequence: string[];
  /** Those of the longest chain of operations, each of which began after the one before had ended. */
  critical: string[];
  /** Takes all of them once; answers the time of the critical ones alone, in ms. */
  run(): Promise<number>;
}

export class Engines {
  readonly #dynamodb: DynamoDBDocumentClient;
  readonly #sqs: SQSClient;
  readonly #queueUrl: string;

  private constructor(dynamodbEndpoint: string, queueUrl: string) {
    this.#dynamodb = DynamoDBDocumentClient.from(new DynamoDBClient(localClient(dynamodbEndpoint)), {
      marshallOptions: { removeUndefinedValues: true },
    });
    this.#sqs = new SQSClient({ ...localClient(new URL(queueUrl).origin), useQueueUrlAsEndpoint: true });
    this.#queueUrl = queueUrl;
  }

  /** The engines of a running system, with a queue beside its own, from which nobody else receives. */
  static async of(env: Record<string, string>): Promise<Engines> {
    const queueUrl = await createQueues(String(env.AWS_ENDPOINT_URL_SQS), "floor.fifo");
    return new Engines(String(env.AWS_ENDPOINT_URL_DYNAMODB), queueUrl);
  }

  /**
   * @param recorded what was recorded of one use
   * @param fresh gives the texts that name what the use made, and new ones for them: so each run makes its own
   */
  floorOf(recorded: readonly Entry[], fresh: () => Record<string, string>): Floor {
    const operations = withoutWaiting(recorded);
    // An answer waits for its audit event; what goes on after it is on nobody's way.
    const critical = criticalPath(operations, operations.findLast(isAuditEvent));
    const packed = pack(operations);
    const sends = operations.some(({ service }) => service === "sqs");
    const asked = operations.flatMap(({ command, service }) =>
      service === "sqs" ? [command, "ReceiveMessage"] : [command],
    );
    return {
      sequence: [...asked, ...(sends ? ["DeleteMessage"] : [])],
      critical: operations.filter((operation) => critical.has(operation)).map(({ command }) => command),
      run: async () => {
        let text = packed;
        for (const [known, replacement] of Object.entries(fresh())) text = text.replaceAll(known, replacement);
        let criticalMs = 0;
        const receipts: string[] = [];
        for (const [index, operation] of unpack(text).entries()) {
          const start = performance.now();
          if (operation.service === "dynamodb") await this.#ask(operation);
          else receipts.push(...(await this.#throughQueue(operation)));
          const original = operations[index];
          if (original && critical.has(original)) criticalMs += performance.now() - start;
        }
        for (const ReceiptHandle of receipts) {
          await this.#sqs.send(new DeleteMessageCommand({ QueueUrl: this.#queueUrl, ReceiptHandle }));
        }
        return criticalMs;
      },
    };
  }

  async #ask({ command, input }: Operation): Promise<void> {
    const Command = commands[command];
    if (Command === undefined) throw new Error(`The floor does not know ${command}.`);
    try {
      await this.#dynamodb.send(new Command(input));
    } catch (error) {
      // The system met the same refusal, for example of a project that is there already.
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
    }
  }

  async #throughQueue({ input }: Operation): Promise<string[]> {
    const entries = (input as unknown as SendMessageBatchCommandInput).Entries ?? [];
    await this.#sqs.send(new SendMessageBatchCommand({ Entries: entries, QueueUrl: this.#queueUrl }));
    const receipts: string[] = [];
    while (receipts.length < entries.length) {
      const receive = { QueueUrl: this.#queueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 20 };
      const { Messages = [] } = await this.#sqs.send(new ReceiveMessageCommand(receive));
      receipts.push(...Messages.map(({ ReceiptHandle = "" }) => ReceiptHandle));
    }
    return receipts;
  }

  stop(): void {
    this.#dynamodb.destroy();
    this.#sqs.destroy();
  }
}
