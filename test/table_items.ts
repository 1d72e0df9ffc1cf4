import type { Item } from "../functions/_table/table.ts";

/**
 * Everything in the system's table, by key: to show that nothing was written. Only for tests.
 * @param options.audit also the audit trail, which grows with each invocation, refused ones included
 */
export async function tableItems(options: { audit: boolean } = { audit: false }): Promise<Map<string, Item>> {
  // Loaded only now, when the system has set the environment.
  const { ScanCommand } = await import("@aws-sdk/lib-dynamodb");
  const { dynamodb } = await import("../functions/_runtime/clients.ts");
  const items: Item[] = [];
  let start: Item | undefined;
  do {
    const page = await dynamodb.send(
      new ScanCommand({ TableName: process.env.TABLE_NAME, ConsistentRead: true, ExclusiveStartKey: start }),
    );
    items.push(...(page.Items ?? []));
    start = page.LastEvaluatedKey;
  } while (start);
  const shown = items.filter(({ PK }) => options.audit || !String(PK).startsWith("AUDIT#"));
  return new Map(shown.map((item) => [`${item.PK} ${item.SK}`, item]));
}
