import type * as z from "zod";
import { logFor } from "../_runtime/log.ts";
import { workspaceOf } from "./keys.ts";
import { getAll, type Item, queryPage } from "./table.ts";

/** A record that `sweep` must look at, and whose it is. */
export interface Due<R> {
  workspace: string;
  record: R;
}

const pageSize = 50;

/**
 * Access pattern: what is due in one index partition, oldest first; read through the index, so checked again after.
 * Each record comes once, although looking at it may make it due again before `untilMs`, on a later page.
 */
export async function* dueRecords<S extends z.ZodType>(
  partition: string,
  untilMs: number,
  schema: S,
): AsyncGenerator<Due<z.output<S>>> {
  const seen = new Set<string>();
  let start: Item | undefined;
  do {
    const page = await queryPage({
      IndexName: "GSI1",
      KeyConditionExpression: "#GSI1PK = :pk AND #GSI1SK < :until",
      ExpressionAttributeValues: { ":pk": partition, ":until": new Date(untilMs).toISOString() },
      Limit: pageSize,
      ...(start && { ExclusiveStartKey: start }),
    });
    const keys = (page.Items ?? []).map(({ PK, SK }) => ({ PK: String(PK), SK: String(SK) }));
    const fresh = keys.filter(({ PK, SK }) => !seen.has(`${PK} ${SK}`));
    for (const { PK, SK } of fresh) seen.add(`${PK} ${SK}`);
    for (const item of await getAll(fresh)) {
      if (item === undefined) continue;
      const parsed = schema.safeParse(item);
      if (parsed.success) yield { workspace: workspaceOf(String(item.PK)), record: parsed.data };
      // One bad record must not keep the sweep from all the others.
      else
        logFor({ part: "due" }).error("unreadable record", { PK: item.PK, SK: item.SK, issues: parsed.error.issues });
    }
    start = page.LastEvaluatedKey;
  } while (start);
}
