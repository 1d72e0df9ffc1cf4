import { permissionsOf } from "./_runtime/contract.ts";
import { contract as assignAgentWork } from "./assign_agent_work/contract.ts";
import { contract as callAgent } from "./call_agent/contract.ts";
import { contract as cancelCall } from "./cancel_call/contract.ts";
import { contract as cancelSchedule } from "./cancel_schedule/contract.ts";
import { contract as cancelTask } from "./cancel_task/contract.ts";
import { contract as decideApproval } from "./decide_approval/contract.ts";
import { contract as getAgentStatus } from "./get_agent_status/contract.ts";
import { contract as getCall } from "./get_call/contract.ts";
import { contract as getProject } from "./get_project/contract.ts";
import { contract as listAgents } from "./list_agents/contract.ts";
import { contract as listApprovals } from "./list_approvals/contract.ts";
import { contract as listAuditEvents } from "./list_audit_events/contract.ts";
import { contract as listSchedules } from "./list_schedules/contract.ts";
import { contract as readFileRange } from "./read_file_range/contract.ts";
import { contract as receiveMessages } from "./receive_messages/contract.ts";
import { contract as registerAgent } from "./register_agent/contract.ts";
import { contract as registerProject } from "./register_project/contract.ts";
import { contract as removeAgent } from "./remove_agent/contract.ts";
import { contract as replyCall } from "./reply_call/contract.ts";
import { contract as scheduleAgentWork } from "./schedule_agent_work/contract.ts";
import { contract as searchCode } from "./search_code/contract.ts";
import { contract as updateTask } from "./update_task/contract.ts";

/** The contracts of all tools, by name. Never a handler: whoever reads this list doesn't run tools. */
export const contracts = [
  assignAgentWork,
  callAgent,
  cancelCall,
  cancelSchedule,
  cancelTask,
  decideApproval,
  getAgentStatus,
  getCall,
  getProject,
  listAgents,
  listApprovals,
  listAuditEvents,
  listSchedules,
  readFileRange,
  receiveMessages,
  registerAgent,
  registerProject,
  removeAgent,
  replyCall,
  scheduleAgentWork,
  searchCode,
  updateTask,
] as const;

/** The permissions that a key can hold as scopes. */
export const permissions = permissionsOf(contracts);
