import { type BuildAppOptions, buildApp } from "fauxqs";

interface Fauxqs {
  /** Where SQS and S3 are. */
  endpoint: string;
  stop(): Promise<void>;
}

/**
 * Starts SQS and S3 in this process, on 127.0.0.1 only (`startFauxqs` listens on every interface of the machine).
 * Queues are in memory also when the table is kept: wake-ups are only hints, the table is the truth, and `sweep`
 * sends again at the next start what has not been delivered.
 * @param dataDir where buckets are kept (an SQLite file, so that a kill leaves whole objects); undefined: in memory
 */
export async function startFauxqs(dataDir?: string): Promise<Fauxqs> {
  const kept = dataDir === undefined ? undefined : await keptStores(dataDir);
  const server = buildApp({ logger: false, ...(kept && { stores: kept.stores }) });
  const endpoint = await server.listen({ port: 0, host: "127.0.0.1" });
  return {
    endpoint,
    stop: async () => {
      await server.close();
      kept?.close();
    },
  };
}

type Stores = NonNullable<BuildAppOptions["stores"]>;
type Store<K extends keyof Stores> = new () => Stores[K];

interface Persistence {
  loadS3(store: Stores["s3Store"]): void;
  close(): void;
}

/** `buildApp` takes stores but its package exports no way to make them; its version is pinned, so its files are known. */
async function keptStores(dataDir: string) {
  const part = (file: string) => import(new URL(file, import.meta.resolve("fauxqs")).href);
  const { SqsStore }: { SqsStore: Store<"sqsStore"> } = await part("./sqs/sqsStore.js");
  const { SnsStore }: { SnsStore: Store<"snsStore"> } = await part("./sns/snsStore.js");
  const { S3Store }: { S3Store: Store<"s3Store"> } = await part("./s3/s3Store.js");
  const { PersistenceManager }: { PersistenceManager: new (dir: string) => Persistence } =
    await part("./persistence.js");
  const persistence = new PersistenceManager(dataDir);
  const s3Store = new S3Store();
  // Loaded before it is attached: what is there already would be written again.
  persistence.loadS3(s3Store);
  Object.assign(s3Store, { persistence });
  return { stores: { sqsStore: new SqsStore(), snsStore: new SnsStore(), s3Store }, close: () => persistence.close() };
}
