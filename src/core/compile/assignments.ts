/** Which bytes may run here: exactly `{current, target}` during an upgrade, `{target, rollback}` after it (SNAP-16). */
import type { Assignment } from "../snapshot/service-assignment.ts";
import type { AssignmentRow, NodeState } from "./rows.ts";
import { compare } from "./sorted.ts";
import { isRevoked } from "./visible.ts";

export const compileAssignments = (state: Pick<NodeState, "assignments" | "revoked">): Assignment[] =>
  state.assignments
    .filter(({ chainProfileId }) => !isRevoked(state, "service_assignment", chainProfileId))
    .toSorted((a, b) => compare(a.chainProfileId, b.chainProfileId))
    .map(assignmentOf);

function assignmentOf(row: AssignmentRow): Assignment {
  const common = {
    chain_profile_id: row.chainProfileId,
    rollout_id: row.rolloutId,
    intent_digest: row.intentDigest,
    target: row.targetFp,
  };
  return row.kind === "upgrading"
    ? { kind: row.kind, ...common, current: row.currentFp }
    : { kind: row.kind, ...common, rollback: row.rollbackFp };
}
