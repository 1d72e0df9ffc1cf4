import type * as z from "zod";
import { detailOf, readReplies, taskState } from "../_delivery/tasks.ts";
import { ToolError } from "../_runtime/errors.ts";
import { answerSize, limits } from "../_runtime/limits.ts";
import { serve } from "../_runtime/serve.ts";
import { iso } from "../_runtime/time.ts";
import { readAssignment } from "../_table/assignments.ts";
import { project as projectKey } from "../_table/keys.ts";
import { type Head, idOf, listHeads, readHeads } from "../_table/messages.ts";
import { readProject } from "../_table/projects.ts";
import type { Reply } from "../_table/texts.ts";
import { contract } from "./contract.ts";

type Input = z.output<typeof contract.input>;

export const handler = serve(contract, async (input, { workspace }) => {
  const now = Date.now(); // From before the heads are read, as for a call's answer.
  const page = input.assignment_id === "" ? await ofProject(workspace, input) : await ofAssignment(workspace, input);
  const project = await readProject(workspace, input.user_name, page.project_name);
  if (project === undefined)
    throw new ToolError("PROJECT_NOT_FOUND", `${input.user_name} has no project '${page.project_name}'.`);
  const { shown, next_cursor } = fitted(page, await readReplies(workspace, page.heads), now);
  const path = [project.user_name, project.project_name].map(encodeURIComponent).join("/");
  const { user_name, project_name, project_root_dir, description, files } = project;
  return {
    user_name,
    project_name,
    project_root_dir,
    description,
    files,
    tasks: shown,
    next_cursor,
    source_ref: `switchboard://projects/${path}`,
  };
});

interface Page {
  project_name: string;
  heads: Head[];
  next_cursor: string;
}

async function ofProject(workspace: string, { user_name, project_name, cursor, limit }: Input): Promise<Page> {
  if (cursor !== "" && !/^\d{13}_\w{12}$/.test(cursor)) throw invalidCursor();
  const { heads, more } = await listHeads(projectKey(workspace, user_name, project_name).PK, "tasks", limit, cursor);
  return { project_name, heads, next_cursor: more ? placeOf(heads.at(-1)) : "" };
}

async function ofAssignment(workspace: string, { user_name, assignment_id, cursor, limit }: Input): Promise<Page> {
  const assignment = await readAssignment(workspace, assignment_id);
  if (assignment?.user_name !== user_name)
    throw new ToolError("ASSIGNMENT_NOT_FOUND", `${user_name} has no such assignment.`);
  const ids = assignment.tasks.map(({ task_id }) => task_id).filter((id) => id !== "");
  const from = cursor === "" ? 0 : ids.findIndex((id) => idOf(id).place === cursor) + 1;
  if (cursor !== "" && from === 0) throw invalidCursor();
  const heads = (await readHeads(workspace, ids.slice(from, from + limit))).filter((head) => head !== undefined);
  return {
    project_name: assignment.project_name,
    heads,
    next_cursor: from + limit < ids.length ? placeOf(heads.at(-1)) : "",
  };
}

const placeOf = (head: Head | undefined) => (head === undefined ? "" : idOf(head.id).place);
const invalidCursor = () =>
  new ToolError("INVALID_CURSOR", "The cursor is not one that get_project gave out for this.");

/** As many tasks as fit into one answer. */
function fitted({ heads, next_cursor }: Page, replies: readonly (Reply | undefined)[], now: number) {
  const shown: ReturnType<typeof inList>[] = [];
  let bytes = 0;
  for (const [index, head] of heads.entries()) {
    const task = inList(head, replies[index], now);
    bytes += answerSize(task);
    if (bytes > limits.answerBytes && shown.length > 0) return { shown, next_cursor: placeOf(heads[index - 1]) };
    shown.push(task);
  }
  return { shown, next_cursor };
}

const inList = (head: Head, reply: Reply | undefined, now: number) => ({
  task_id: head.id,
  assignment_id: head.assignment_id ?? "",
  session_id: head.session_id,
  leader: head.sender,
  name: head.task_name,
  executor: head.receiver,
  status: taskState(head, now),
  detailed: detailOf(head, reply),
  files: reply?.files ?? [],
  created_at: iso(head.sent_at),
  updated_at: iso(head.updated_at),
  deadline_at: iso(head.deadline_at),
  schedule_id: head.schedule_id ?? "",
});
