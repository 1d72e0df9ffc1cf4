import { assertBytes, limits } from "../_runtime/limits.ts";
import { serve } from "../_runtime/serve.ts";
import { rememberWrites } from "../_table/idempotency.ts";
import { readProject, registerProjectWrite } from "../_table/projects.ts";
import { transact } from "../_table/table.ts";
import { contract } from "./contract.ts";

export const handler = serve(contract, async (input, { workspace, repeat }) => {
  if (repeat?.effect !== undefined) return { ...input, created: repeat.effect === "created" };
  assertBytes("description", input.description, limits.contentBytes);
  assertBytes("files", JSON.stringify(input.files), limits.filesBytes);
  const created = (await readProject(workspace, input.user_name, input.project_name)) === undefined;
  await transact([registerProjectWrite(workspace, input), ...rememberWrites(repeat, created ? "created" : "updated")]);
  return { ...input, created };
});
