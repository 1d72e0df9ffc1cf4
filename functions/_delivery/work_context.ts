import type { RequestedFile } from "../_runtime/fields.ts";
import type { InboxItem } from "../_table/inbox.ts";
import { project as projectKey } from "../_table/keys.ts";
import { parseProject } from "../_table/projects.ts";
import type { Item } from "../_table/table.ts";
import { filesKey, parseFiles } from "../_table/texts.ts";

/** Where the surroundings of a message are found: its own files and its project, for one batch read. */
export const contextKeys = (workspace: string, item: InboxItem) => [
  filesKey(workspace, item.id),
  projectKey(workspace, item.user_name, item.project_name),
];

/** The files a receiver is to work on: a call names its own, a task takes its project's. */
export function readContext(
  item: InboxItem,
  [files, project]: readonly (Item | undefined)[],
): { files: RequestedFile[]; project_root_dir: string } {
  const found = parseProject(project);
  return {
    files: item.kind === "task" ? (found?.files ?? []) : parseFiles(files),
    project_root_dir: found?.project_root_dir ?? "",
  };
}
