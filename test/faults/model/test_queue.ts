import type { QueueHandler } from "../../../infra/local/poller.ts";
import { sqsRecord } from "../../delivery/held_queue.ts";
import { answered, intercept } from "../../delivery/intercept.ts";

interface WakeUp {
  number: number;
  group: string;
  body: string;
  visibleAt: number;
}

const visibilityMs = 900_000;
const dedupMs = 300_000;

/**
 * SQS's FIFO rules by the test's own clock: groups in order, one at a time; what is hidden holds its group;
 * equal deduplication ids within five minutes are one message. So a run decides when each wake-up is worked
 * off, and which are lost or come twice.
 */
export class TestQueue {
  readonly #deliver: QueueHandler;
  #wakeUps: WakeUp[] = [];
  #sent = new Map<string, number>();
  #number = 0;
  #workspace = "";

  constructor(deliver: QueueHandler) {
    this.#deliver = deliver;
  }

  /** Takes the place of the system's queue, for the rest of the process. */
  async install(): Promise<this> {
    await intercept("sqs", async ({ name, input }) => {
      if (name === "SendMessageBatchCommand") for (const entry of input.Entries) this.#send(entry);
      else if (name === "ChangeMessageVisibilityCommand") this.#hide(input.ReceiptHandle, input.VisibilityTimeout);
      else throw new Error(`No ${name} is expected.`);
      return answered({});
    });
    return this;
  }

  /** Empty, and for one workspace alone: a sweep finds what runs that failed have left in others. */
  serve(workspace: string): void {
    this.#workspace = workspace;
    this.#wakeUps = [];
    this.#sent.clear();
  }

  /** Newest first. */
  get all(): WakeUp[] {
    return this.#wakeUps.toReversed();
  }

  /** Those that a worker would get now: each group's first, unless it is hidden. Newest first. */
  get next(): WakeUp[] {
    const first = [...Map.groupBy(this.#wakeUps, ({ group }) => group).values()].map(([wakeUp]) => wakeUp);
    return first.filter((wakeUp) => wakeUp !== undefined && wakeUp.visibleAt <= Date.now()).toReversed() as WakeUp[];
  }

  async deliver(wakeUp: WakeUp): Promise<void> {
    wakeUp.visibleAt = Date.now() + visibilityMs;
    if (await this.#workOff(wakeUp)) this.lose(wakeUp);
  }

  /** One that was worked off and not deleted in time comes again, whatever its group does. */
  async double(wakeUp: WakeUp): Promise<void> {
    await this.#workOff({ ...wakeUp, number: ++this.#number });
  }

  lose(wakeUp: WakeUp): void {
    this.#wakeUps = this.#wakeUps.filter((other) => other !== wakeUp);
  }

  async #workOff({ body, group, number }: WakeUp): Promise<boolean> {
    const { batchItemFailures } = await this.#deliver({ Records: [sqsRecord(body, group, number)] });
    return batchItemFailures.length === 0;
  }

  #send(entry: { MessageBody: string; MessageGroupId: string; MessageDeduplicationId: string }): void {
    const { MessageBody: body, MessageGroupId: group, MessageDeduplicationId: id } = entry;
    const now = Date.now();
    if (JSON.parse(body).workspace !== this.#workspace || (this.#sent.get(id) ?? 0) > now) return;
    this.#sent.set(id, now + dedupMs);
    this.#wakeUps.push({ number: ++this.#number, group, body, visibleAt: now });
  }

  #hide(receipt: string, seconds: number): void {
    const wakeUp = this.#wakeUps.find(({ number }) => receipt === `receipt-${number}`);
    if (wakeUp !== undefined) wakeUp.visibleAt = Date.now() + seconds * 1000;
  }
}
