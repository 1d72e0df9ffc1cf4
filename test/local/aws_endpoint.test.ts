import { GetSecretValueCommand, ListSecretsCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startAwsEndpoint } from "../../infra/local/aws_endpoint.ts";
import { localClient } from "../../infra/local/client_config.ts";
import { secretsManager } from "../../infra/local/secrets_manager.ts";

let aws: Awaited<ReturnType<typeof startAwsEndpoint>>;
let secrets: SecretsManagerClient;

beforeAll(async () => {
  aws = await startAwsEndpoint([secretsManager(new Map([["root", "s3cret"]]))]);
  secrets = new SecretsManagerClient(localClient(aws.endpoint));
});

afterAll(async () => {
  secrets.destroy();
  await aws.stop();
});

test("a secret is read by its id", async () => {
  expect(await secrets.send(new GetSecretValueCommand({ SecretId: "root" }))).toMatchObject({ SecretString: "s3cret" });
});

test("an unknown secret is refused as AWS refuses it", async () => {
  await expect(secrets.send(new GetSecretValueCommand({ SecretId: "other" }))).rejects.toMatchObject({
    name: "ResourceNotFoundException",
  });
});

test("an operation that nothing stands in for is refused by name", async () => {
  await expect(secrets.send(new ListSecretsCommand({}))).rejects.toMatchObject({
    name: "UnknownOperationException",
    message: "The local endpoint does not know secretsmanager.ListSecrets.",
  });
});
