/**
 * The single table's physical facts, for CDK and for the local engine alike. Billing is on demand.
 * Keys are strings; `functions/_table/keys.ts` says what stands in them.
 */
export const table = {
  partitionKey: "PK",
  sortKey: "SK",
  /** The one overloaded index. Only keys are projected: what must be right is read from the base table. */
  index: { name: "GSI1", partitionKey: "GSI1PK", sortKey: "GSI1SK", projection: "KEYS_ONLY" },
  /** Epoch seconds. */
  ttlAttribute: "ttl",
} as const;
