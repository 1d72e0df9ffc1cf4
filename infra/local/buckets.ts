import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3";
import { localClient } from "./client_config.ts";

/** Creates a bucket; one that exists stays as it is. */
export async function ensureBucket(endpoint: string, name: string): Promise<void> {
  const client = new S3Client(localClient(endpoint));
  try {
    await client.send(new CreateBucketCommand({ Bucket: name }));
  } finally {
    client.destroy();
  }
}
