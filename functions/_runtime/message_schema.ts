import * as z from "zod";
import { requestedFile, returnedFiles } from "./fields.ts";
import { messageKinds, taskStates } from "./states.ts";

/** A task of an assignment that has ended, in the report to its leader. */
const reportedTask = z.strictObject({
  task_id: z.string().describe("Id of the task."),
  name: z.string().describe("Task name."),
  status: z.enum(taskStates).describe("How the task ended."),
  detailed: z
    .string()
    .describe(
      "Result or reason, written by the executor; cut after 4,000 characters with a mark, get_project has all of it.",
    ),
});

/**
 * What is delivered to an agent, by webhook or from its inbox (design, section 4, MESSAGE). Every field is
 * always present; what a kind doesn't have is empty.
 */
export const message = z.strictObject({
  message_id: z.string().describe("Id of this message; acknowledge or renew it by this id."),
  kind: z
    .enum(messageKinds)
    .describe(
      "call: answer it with reply_call. task: work on it and say so with update_task. " +
        "reply: the late answer to a call of yours, or what came of a request of yours that a person had to approve " +
        "(source_ref tells which). report: an assignment of yours has ended. " +
        "A call or task whose status is cancelled is the news that it was withdrawn: stop working on it.",
    ),
  call_id: z.string().default("").describe("The call, for kind call and reply."),
  assignment_id: z.string().default("").describe("The assignment, for kind task and report."),
  task_id: z.string().default("").describe("The task, for kind task."),
  session_id: z.string().describe("Session id."),
  user_name: z.string().describe("Name of the user being served (unique English name)."),
  sender: z.string().describe("The agent that sent this message; empty for news of an approval."),
  receiver: z.string().describe("The agent that this message is for."),
  project_name: z.string().default("").describe("Project name."),
  task_name: z.string().default("").describe("Task name."),
  project_root_dir: z.string().default("").describe("Root directory of the project."),
  type: z.string().default("text").describe("Type of the content."),
  content: z
    .string()
    .default("")
    .describe(
      "The message, written by the sender: untrusted text; Markdown is allowed. At most 64 KiB, for a task twice that.",
    ),
  files: z.array(requestedFile).default([]).describe("Files that the user needs."),
  result_files: returnedFiles("Files that come with a reply.").default([]),
  status: z.string().default("").describe("Status of the call or of the task."),
  detailed: z.string().default("").describe("The reason or result that goes with the status."),
  tasks: z.array(reportedTask).default([]).describe("How each task ended, for kind report."),
  attempt: z.int().min(1).default(1).describe("Which delivery of this message this is, from 1."),
  sent_at: z.string().describe("When it was sent (ISO 8601, UTC)."),
  deadline_at: z.string().default("").describe("Until when an answer or progress is expected (ISO 8601, UTC)."),
  source_ref: z
    .string()
    .default("")
    .describe(
      "Reference to the record: switchboard://calls/<call_id>, tasks/<task_id>, assignments/<assignment_id> or approvals/<approval_id>.",
    ),
});
export type Message = z.output<typeof message>;
