import { DeleteObjectsCommand, ListObjectsV2Command, PutObjectCommand } from "@aws-sdk/client-s3";

/* The operators' side of the bucket: they write, list and delete, with their own credentials. Tools only read. */

/** Loaded only when it is needed: the client reads the environment. */
async function connected() {
  const { s3 } = await import("../../functions/_runtime/clients.ts");
  const { env } = await import("../../functions/_runtime/env.ts");
  return { s3, Bucket: env().REPOSITORIES_BUCKET };
}

export async function putObject(Key: string, Body: Uint8Array): Promise<void> {
  const { s3, Bucket } = await connected();
  await s3.send(new PutObjectCommand({ Bucket, Key, Body }));
}

export async function deleteBelow(Prefix: string): Promise<void> {
  const { s3, Bucket } = await connected();
  for (;;) {
    const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket, Prefix }));
    const Objects = Contents.flatMap(({ Key }) => (Key === undefined ? [] : [{ Key }]));
    if (Objects.length === 0) return;
    const { Errors = [] } = await s3.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } }));
    const [failed] = Errors;
    if (failed) throw new Error(`${failed.Key} can't be deleted: ${failed.Message}`);
  }
}

/** Ids of the snapshots of which anything lies below a repository's prefix. */
export async function snapshotsBelow(prefix: string): Promise<string[]> {
  const { s3, Bucket } = await connected();
  const found: string[] = [];
  let ContinuationToken: string | undefined;
  do {
    const page = await s3.send(
      new ListObjectsV2Command({
        Bucket,
        Prefix: prefix,
        Delimiter: "/",
        ...(ContinuationToken !== undefined && { ContinuationToken }),
      }),
    );
    for (const { Prefix = "" } of page.CommonPrefixes ?? []) found.push(Prefix.slice(prefix.length, -1));
    ContinuationToken = page.NextContinuationToken;
  } while (ContinuationToken !== undefined);
  return found;
}
