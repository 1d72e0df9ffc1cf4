import * as z from "zod";
import { AwsError, type AwsService } from "./aws_endpoint.ts";

const request = z.object({ SecretId: z.string() });

/** Secrets Manager for the given secrets, by their id. */
export function secretsManager(secrets: ReadonlyMap<string, string>): AwsService {
  return ({ target, body }) => {
    if (target !== "secretsmanager.GetSecretValue") return undefined;
    const { SecretId } = request.parse(JSON.parse(body));
    const SecretString = secrets.get(SecretId);
    if (SecretString === undefined) {
      throw new AwsError("ResourceNotFoundException", "Secrets Manager can't find the specified secret.");
    }
    return { body: { Name: SecretId, SecretString, VersionStages: ["AWSCURRENT"] } };
  };
}
