import * as z from "zod";
import type { RequestedFile } from "../_runtime/fields.ts";
import { project as projectKey } from "./keys.ts";
import { ConditionFailed, get, type Item, put, type Write } from "./table.ts";

/** By workspace, user and name; made on first use. */
const project = z.object({
  user_name: z.string(),
  project_name: z.string(),
  project_root_dir: z.string(),
  description: z.string(),
  files: z.array(z.custom<RequestedFile>()),
  created_at: z.number(),
});
export type Project = z.output<typeof project>;

export const parseProject = (item: Item | undefined) => item && project.parse(item);

/** Access pattern: a project. Strongly consistent. */
export async function readProject(workspace: string, user: string, name: string): Promise<Project | undefined> {
  return parseProject(await get(projectKey(workspace, user, name)));
}

/** Makes a project on its first use; one that exists stays as it is. */
export async function ensureProject(workspace: string, user: string, name: string): Promise<void> {
  const fresh: Project = {
    user_name: user,
    project_name: name,
    project_root_dir: "",
    description: "",
    files: [],
    created_at: Date.now(),
  };
  try {
    await put({
      Item: { ...projectKey(workspace, user, name), ...fresh },
      ConditionExpression: "attribute_not_exists(PK)",
    });
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error; // It is there already.
  }
}

/** Sets what a project is. `created_at` stays with the first write. */
export function registerProjectWrite(workspace: string, found: Omit<Project, "created_at">): Write {
  return {
    Update: {
      Key: projectKey(workspace, found.user_name, found.project_name),
      UpdateExpression:
        "SET #user_name = :user, #project_name = :name, #project_root_dir = :root, #description = :description, " +
        "#files = :files, #created_at = if_not_exists(#created_at, :now)",
      ExpressionAttributeValues: {
        ":user": found.user_name,
        ":name": found.project_name,
        ":root": found.project_root_dir,
        ":description": found.description,
        ":files": found.files,
        ":now": Date.now(),
      },
    },
  };
}
