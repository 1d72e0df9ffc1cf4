import { approvalReturns, heldText } from "../_governance/approval_view.ts";
import { clipped } from "../_runtime/clipped.ts";
import { ToolError } from "../_runtime/errors.ts";
import { serve } from "../_runtime/serve.ts";
import {
  type Approval,
  approvalStatus,
  isApprovalId,
  listApprovals,
  readApproval,
  readHeldInput,
  readInputsBeginnings,
  readResult,
} from "../_table/approvals.ts";
import { contract } from "./contract.ts";

/** A filter is applied to what was read, so one request reads at most this many pages before it hands out a cursor. */
const pagesPerRequest = 5;
const pageSize = 50;

export const handler = serve(contract, async ({ approval_id, status, cursor, limit }, { workspace }) => {
  if (approval_id !== "") return { approvals: [await whole(workspace, approval_id)], next_cursor: "" };
  if (cursor !== "" && !isApprovalId(cursor)) {
    throw new ToolError("INVALID_CURSOR", "The cursor is not one that list_approvals gave out.");
  }
  const found: Approval[] = [];
  let before = cursor;
  let more = true;
  for (let page = 0; more && page < pagesPerRequest && found.length < limit; page++) {
    const read = await listApprovals(workspace, before, pageSize);
    const now = Date.now();
    found.push(...read.approvals.filter((approval) => approvalStatus(approval, now) === status));
    more = read.more;
    before = read.approvals.at(-1)?.id ?? before;
  }
  const shown = found.slice(0, limit);
  const next_cursor = found.length > limit ? (shown.at(-1)?.id ?? "") : more ? before : "";
  return { approvals: await inList(workspace, shown), next_cursor };
});

const shownCharacters = 4_000;

/** A tool may answer with megabytes, which would be too much inside another answer. */
const shownResult = (result: string) => clipped(result, 64_000, "who asked gets all of it");

/** An input's first piece is far longer than what a list shows of it. */
async function inList(workspace: string, approvals: readonly Approval[]) {
  const inputs = await readInputsBeginnings(
    workspace,
    approvals.map(({ id }) => id),
  );
  return approvals.map((approval, index) => {
    const input = clipped(inputs[index] ?? "", shownCharacters, "ask with approval_id for all of it");
    return { ...approvalReturns(approval), input, result: "" };
  });
}

/** @throws {ToolError} APPROVAL_NOT_FOUND */
async function whole(workspace: string, id: string) {
  const approval = await readApproval(workspace, id);
  if (approval === undefined) throw new ToolError("APPROVAL_NOT_FOUND", `There is no approval ${id}.`);
  const [input, result] = await Promise.all([readHeldInput(workspace, approval), readResult(workspace, approval)]);
  return { ...approvalReturns(approval), input: heldText(input), result: shownResult(heldText(result)) };
}
