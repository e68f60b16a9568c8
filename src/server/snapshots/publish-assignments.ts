/**
 * The `service_assignment` snapshots of nodes whose assignment a rollout has just changed, in its own transaction: the
 * command that goes with it names the version (SNAP-16).
 */
import { compileAssignments } from "../../core/compile/assignments.ts";
import type { NodeId } from "../../core/ids.ts";
import type { Transaction } from "../db/database.ts";
import { pipelined } from "../db/pipelined.ts";
import type { Authority } from "./authority.ts";
import { loadAssignments, loadRevocations } from "./load-own-rows.ts";
import { lockStanding, type PublishedSnapshot, publishLocked } from "./publish.ts";

export async function publishAssignments(
  tx: Transaction,
  authority: Authority,
  nodeIds: readonly NodeId[],
  now: number,
): Promise<PublishedSnapshot[]> {
  if (nodeIds.length === 0) return [];
  const places = nodeIds.map((nodeId) => ({ nodeId, scope: "service_assignment" as const }));
  const [standing, assignments, revocations] = await pipelined(
    () => lockStanding(tx, authority, places),
    () => loadAssignments(tx, nodeIds),
    () => loadRevocations(tx, nodeIds),
  );
  const items = places.map(({ nodeId, scope }) => ({
    nodeId,
    scope,
    content: {
      assignments: compileAssignments({
        assignments: assignments.get(nodeId) ?? [],
        revoked: revocations.of(nodeId),
      }),
    },
  }));
  const published = await publishLocked(tx, authority, items, standing, now);
  // Looked up, it gets a head that knows of the revocation.
  return published.map((one) => (revocations.isNew(one.nodeId) ? { ...one, frame: null } : one));
}
