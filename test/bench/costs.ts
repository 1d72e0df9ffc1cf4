import type { Cost } from "./account.ts";

/** What every run of a tool costs beside what the tool does: the key is read, and an audit event written. */
const everyRequest: Cost = { tools: 1, direct: 0, read: 1, write: 1, requests: { GetItem: 1, PutItem: 1 } };

/**
 * What each use in `uses.ts` costs, exactly, as tests assert it: a change that costs more must say so here.
 * Read units are those of strongly consistent reads of up to 4 KB, write units those of up to 1 KB.
 * @param tools runs of tools, each of which costs `everyRequest` beside the rest
 * @param direct how many of them another function starts
 */
function cost(
  tools: number,
  units: { read: number; write: number },
  commands: Record<string, number>,
  direct = 0,
): Cost {
  const all = { ...commands };
  for (const [command, count] of Object.entries(everyRequest.requests)) {
    all[command] = (all[command] ?? 0) + tools * count;
  }
  return {
    tools,
    direct,
    read: units.read + tools * everyRequest.read,
    write: units.write + tools * everyRequest.write,
    requests: all,
  };
}

/** Without the looks of a waiting caller that found nothing yet. */
export const roundTripCosts: Record<string, Cost> = {
  "call and reply, by webhook": cost(
    1,
    { read: 9, write: 19 },
    {
      GetItem: 3,
      BatchGetItem: 2,
      BatchWriteItem: 2,
      DeleteMessage: 1,
      Query: 2,
      ReceiveMessage: 1,
      SendMessageBatch: 1,
      TransactWriteItems: 2,
      UpdateItem: 5,
    },
  ),
  "call and reply, by webhook, with an Idempotency-Key": cost(
    1,
    { read: 10, write: 21 },
    {
      GetItem: 4,
      BatchGetItem: 2,
      BatchWriteItem: 2,
      DeleteMessage: 1,
      Query: 2,
      ReceiveMessage: 1,
      SendMessageBatch: 1,
      TransactWriteItems: 2,
      UpdateItem: 5,
    },
  ),
  "call and reply, by inbox": cost(
    3,
    { read: 12, write: 18 },
    { GetItem: 5, BatchGetItem: 2, BatchWriteItem: 2, Query: 3, TransactWriteItems: 2, UpdateItem: 4 },
  ),
};

export const costs: Record<string, Record<string, Cost>> = {
  register_agent: {
    "a new agent": cost(1, { read: 1, write: 3 }, { Query: 1, TransactWriteItems: 1 }),
    again: cost(1, { read: 1, write: 2 }, { Query: 1, TransactWriteItems: 1 }),
  },
  remove_agent: {
    "an idle agent": cost(1, { read: 1, write: 3 }, { Query: 1, TransactWriteItems: 1 }),
  },
  list_agents: {
    "3 agents": cost(1, { read: 4, write: 0 }, { BatchGetItem: 1, Query: 2 }),
    "50 agents": cost(1, { read: 51.5, write: 0 }, { BatchGetItem: 1, Query: 2 }),
  },
  call_agent: {
    "to nobody": cost(1, { read: 6.5, write: 0 }, { BatchGetItem: 2, Query: 2 }),
    "to an inbox, without waiting": cost(
      1,
      { read: 4, write: 8 },
      { BatchGetItem: 1, BatchWriteItem: 1, Query: 1, TransactWriteItems: 1, UpdateItem: 1 },
    ),
    "to an inbox, without waiting, in a long session": cost(
      1,
      { read: 5, write: 8 },
      { BatchGetItem: 1, BatchWriteItem: 1, Query: 2, TransactWriteItems: 1, UpdateItem: 1 },
    ),
    "to a webhook that says 202, without waiting": cost(
      1,
      { read: 7, write: 12 },
      {
        GetItem: 1,
        BatchGetItem: 2,
        BatchWriteItem: 1,
        DeleteMessage: 1,
        Query: 2,
        ReceiveMessage: 1,
        SendMessageBatch: 1,
        TransactWriteItems: 1,
        UpdateItem: 5,
      },
    ),
  },
  receive_messages: {
    "nothing there": cost(1, { read: 1, write: 1 }, { Query: 1, UpdateItem: 1 }),
    "1 call": cost(1, { read: 2, write: 2 }, { BatchGetItem: 1, Query: 1, UpdateItem: 2 }),
    "10 calls": cost(1, { read: 12, write: 11 }, { BatchGetItem: 1, Query: 1, UpdateItem: 11 }),
  },
  reply_call: {
    "the sender waits no longer": cost(
      1,
      { read: 4, write: 14 },
      { GetItem: 4, BatchWriteItem: 1, TransactWriteItems: 1, UpdateItem: 2 },
    ),
  },
  get_call: {
    "not answered yet": cost(1, { read: 5, write: 0 }, { GetItem: 4, Query: 1 }),
    answered: cost(1, { read: 4, write: 0 }, { GetItem: 3, Query: 1 }),
  },
  cancel_call: {
    "not delivered yet": cost(1, { read: 3, write: 6 }, { GetItem: 3, TransactWriteItems: 1 }),
  },
  assign_agent_work: {
    "1 task": cost(
      1,
      { read: 4, write: 12 },
      { GetItem: 1, BatchGetItem: 1, BatchWriteItem: 1, PutItem: 1, Query: 1, TransactWriteItems: 1, UpdateItem: 1 },
    ),
    "10 tasks": cost(
      1,
      { read: 13, write: 77 },
      { GetItem: 1, BatchGetItem: 1, BatchWriteItem: 1, PutItem: 1, Query: 1, TransactWriteItems: 1, UpdateItem: 1 },
    ),
    "40 tasks": cost(
      1,
      { read: 43, write: 293 },
      { GetItem: 1, BatchGetItem: 1, BatchWriteItem: 2, PutItem: 1, Query: 1, TransactWriteItems: 1, UpdateItem: 1 },
    ),
    "2 tasks, in a long session": cost(
      1,
      { read: 15, write: 18 },
      { GetItem: 1, BatchGetItem: 1, BatchWriteItem: 1, PutItem: 1, Query: 3, TransactWriteItems: 1, UpdateItem: 1 },
    ),
  },
  update_task: {
    running: cost(
      1,
      { read: 5, write: 6 },
      { GetItem: 4, BatchGetItem: 1, BatchWriteItem: 1, TransactWriteItems: 1, UpdateItem: 1 },
    ),
    "done, others are open": cost(
      1,
      { read: 6, write: 10 },
      { GetItem: 5, BatchGetItem: 1, BatchWriteItem: 1, TransactWriteItems: 1, UpdateItem: 1 },
    ),
    "done, the last one": cost(
      1,
      { read: 7, write: 16 },
      { GetItem: 6, BatchGetItem: 1, BatchWriteItem: 1, TransactWriteItems: 1, UpdateItem: 2 },
    ),
  },
  cancel_task: {
    "not delivered yet": cost(1, { read: 4, write: 8 }, { GetItem: 4, TransactWriteItems: 1 }),
  },
  get_project: {
    "1 task": cost(1, { read: 3, write: 0 }, { GetItem: 1, BatchGetItem: 1, Query: 1 }),
    "40 tasks": cost(1, { read: 47, write: 0 }, { GetItem: 1, BatchGetItem: 1, Query: 1 }),
  },
  register_project: {
    "a new project": cost(1, { read: 1, write: 2 }, { GetItem: 1, TransactWriteItems: 1 }),
  },
  list_approvals: {
    "1 of them": cost(1, { read: 2, write: 0 }, { BatchGetItem: 1, Query: 1 }),
    "20 of them": cost(1, { read: 22, write: 0 }, { BatchGetItem: 1, Query: 1 }),
  },
  decide_approval: {
    "approve, with the run of register_project": cost(
      2,
      { read: 5, write: 12 },
      { GetItem: 3, BatchWriteItem: 1, Query: 2, TransactWriteItems: 3 },
      1,
    ),
    deny: cost(1, { read: 2, write: 3 }, { GetItem: 1, Query: 1, TransactWriteItems: 1 }),
  },
  list_audit_events: {
    "10 of an hour": cost(1, { read: 2, write: 0 }, { Query: 1 }),
    "100 of an hour": cost(1, { read: 11, write: 0 }, { Query: 1 }),
    "the last day, in which there were none": cost(1, { read: 25, write: 0 }, { Query: 25 }),
  },
  schedule_agent_work: {
    "1 task": cost(1, { read: 2, write: 9 }, { GetItem: 2, TransactWriteItems: 1, UpdateItem: 1 }),
  },
  list_schedules: { "10 of them": cost(1, { read: 1, write: 0 }, { Query: 1 }) },
  cancel_schedule: { "one that is to run": cost(1, { read: 1, write: 10 }, { GetItem: 1, TransactWriteItems: 2 }) },
  read_file_range: { "3 lines": cost(1, { read: 1, write: 0 }, { GetItem: 1 }) },
  search_code: { "a word": cost(1, { read: 1, write: 0 }, { GetItem: 1 }) },
  get_agent_status: {
    idle: cost(1, { read: 1, write: 0 }, { Query: 1 }),
    "1 todo": cost(1, { read: 2, write: 0 }, { BatchGetItem: 1, Query: 1 }),
    "20 todos": cost(1, { read: 4, write: 0 }, { BatchGetItem: 1, Query: 1 }),
  },
};
