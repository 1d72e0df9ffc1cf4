import { onTestFinished } from "vitest";
import { intercept } from "./intercept.ts";

type Key = Record<"PK" | "SK", string | { S: string }>;
interface Action {
  Item?: Key;
  Key?: Key;
}

/**
 * What the functions have written to the table since the journal was begun, from what DynamoDB took; without the audit
 * trail, which refusals go to as well.
 */
export interface Journal {
  /** Every write, for example `Put INBOX`. */
  writes(): string[];
  /** Those of transactions, sorted: what a request does. The rest is texts, counters and when an agent was seen. */
  effects(): string[];
}

/** Begins a journal, which ends with the test. */
export async function beginJournal(): Promise<Journal> {
  const writes: string[] = [];
  const effects: string[] = [];
  const stop = await intercept(
    "dynamodb",
    async ({ name, input, send }) => {
      const answer = await send();
      if (name.startsWith("TransactWrite")) effects.push(...input.TransactItems.flatMap(actions));
      if (name.startsWith("BatchWrite")) writes.push(...Object.values(input.RequestItems).map(() => "BatchWrite"));
      else if (/^(Put|Update|Delete)/.test(name) && !isAudit(input)) writes.push(`${name} ${kindOf(input)}`);
      return answer;
    },
    "wire",
  );
  onTestFinished(stop);
  return { writes: () => [...writes, ...effects], effects: () => effects.toSorted() };
}

const actions = (item: Record<string, Action>) =>
  Object.entries(item).map(([action, input]) => `${action} ${kindOf(input)}`);

/** `INBOX` of `INBOX#…` */
const kindOf = (action: Action): string => keyPart(action, "SK").split("#")[0] ?? "";
const isAudit = (action: Action) => keyPart(action, "PK").startsWith("AUDIT#");

function keyPart({ Item, Key }: Action, name: keyof Key): string {
  const part = (Item ?? Key)?.[name] ?? "";
  return typeof part === "string" ? part : part.S;
}
