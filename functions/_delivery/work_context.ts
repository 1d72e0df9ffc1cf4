import type { RequestedFile } from "../_runtime/fields.ts";
import type { InboxItem } from "../_table/inbox.ts";
import { type Key, project as projectKey } from "../_table/keys.ts";
import { parseProject } from "../_table/projects.ts";
import type { Item } from "../_table/table.ts";
import { filesKey, parseFiles } from "../_table/texts.ts";

/** Where the surroundings of a message are found, for one batch read; what it doesn't have costs no read. */
export const contextKeys = (workspace: string, item: InboxItem): { files?: Key; project?: Key } => ({
  ...(item.has_files && { files: filesKey(workspace, item.id) }),
  ...(item.project_name !== "" && { project: projectKey(workspace, item.user_name, item.project_name) }),
});

/** The files a receiver is to work on: a call names its own, a task takes its project's. */
export function readContext(
  item: InboxItem,
  found: { files?: Item; project?: Item },
): { files: RequestedFile[]; project_root_dir: string } {
  const project = parseProject(found.project);
  return {
    files: item.kind === "task" ? (project?.files ?? []) : parseFiles(found.files),
    project_root_dir: project?.project_root_dir ?? "",
  };
}
