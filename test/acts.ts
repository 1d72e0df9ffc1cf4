import { randomBytes } from "node:crypto";
import type { ToolClient } from "./tool_client.ts";

/** A name that nobody has used, also no earlier run. */
export const unique = (name: string) => `${name}-${randomBytes(4).toString("hex")}`;

type Fields = Record<string, unknown>;

const prefer = (waitS: number) => ({ headers: { prefer: waitS === 0 ? "respond-async" : `wait=${waitS}` } });

/** What a profile needs beside its role to be called at this address. */
export const byWebhook = ({ url }: { url: string }) => ({ delivery: "webhook", webhook_url: url });

/** What tests do over and over, for the user alice unless told otherwise. Nothing here waits unless `waitS` says so. */
export function acts(tool: ToolClient) {
  return {
    /** Registers an agent under a new name, a member with an inbox unless `profile` says otherwise; answers the name. */
    register: async (name: string, profile: Fields = {}): Promise<string> => {
      const agent_name = unique(name);
      const { status, body } = await tool("register_agent", { agent_name, role: "member", ...profile });
      if (status !== 200) throw new Error(`${agent_name} is not registered: ${body.msg}`);
      return agent_name;
    },
    call: (input: { session_id: string; sender: string; receiver: string } & Fields, waitS = 0) =>
      tool("call_agent", { user_name: "alice", content: "Are you there?", ...input }, prefer(waitS)),
    reply: (call_id: string, sender: string, more: Fields = {}) =>
      tool("reply_call", { call_id, sender, content: "Yes.", ...more }),
    receive: (agent_name: string, more: Fields = {}, waitS = 0) =>
      tool("receive_messages", { agent_name, ...more }, prefer(waitS)),
    assign: (input: { session_id: string; leader: string } & Fields, waitS = 0) =>
      tool("assign_agent_work", { user_name: "alice", content: "Please begin.", ...input }, prefer(waitS)),
    update: (task_id: string, executor: string, status: string, more: Fields = {}) =>
      tool("update_task", { task_id, executor, status, ...more }),
    statusOf: async (agent_name: string, user_name = "alice") =>
      (await tool("get_agent_status", { agent_name, user_name })).body,
  };
}
