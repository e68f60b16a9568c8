/** The compiler's rows that belong to single nodes: their services, assignments and what was revoked for them. */
import type { AssignmentRow, ServiceRow } from "../../core/compile/rows.ts";
import type { NodeId } from "../../core/ids.ts";
import type { Revocation } from "../../core/snapshot/revocation.ts";
import type { Queryable } from "../db/database.ts";

type Owned<Row> = Row & { readonly nodeId: NodeId };

/** A name of a secret of another organization opens nothing: it is left out. */
export async function loadServices(
  db: Queryable,
  ids: readonly NodeId[],
): Promise<Map<NodeId, ServiceRow[]>> {
  const rows = await db<Owned<ServiceRow>[]>`
    select l.node_id as "nodeId", s.id, s.name, s.organization_id as "organizationId",
      s.chain_profile_id as "chainProfileId", s.resources, s.connectors, s.description,
      array(select r.ref from secret_refs r
        where r.name = any(s.secrets) and r.organization_id = s.organization_id) as "secretRefs"
    from service_nodes l join services s on s.id = l.service_id where l.node_id = any(${ids})`;
  return Map.groupBy(rows, (row) => row.nodeId);
}

export async function loadAssignments(
  db: Queryable,
  ids: readonly NodeId[],
): Promise<Map<NodeId, AssignmentRow[]>> {
  const rows = await db<Owned<AssignmentRow>[]>`
    select node_id as "nodeId", chain_profile_id as "chainProfileId", kind, current_fp as "currentFp",
      target_fp as "targetFp", rollback_fp as "rollbackFp", intent_digest as "intentDigest", rollout_id as "rolloutId"
    from service_assignments where node_id = any(${ids})`;
  return Map.groupBy(rows, (row) => row.nodeId);
}

export interface Revocations {
  /** Of the node and of everyone. */
  of(nodeId: NodeId): readonly Revocation[];
  /** One of them is so new that who answers the node may not have heard of it. */
  isNew(nodeId: NodeId): boolean;
}

const TOLD_WITHIN_SECONDS = 60;

export async function loadRevocations(db: Queryable, ids: readonly NodeId[]): Promise<Revocations> {
  const rows = await db<(Revocation & { readonly nodeId: NodeId | null; readonly isNew: boolean })[]>`
    select node_id as "nodeId", kind, subject as id,
      created_at > clock_timestamp() - make_interval(secs => ${TOLD_WITHIN_SECONDS}) as "isNew"
    from authority_revocations where node_id is null or node_id = any(${ids}) order by seq`;
  const byNode = Map.groupBy(rows, (row) => row.nodeId);
  const plain = (of: NodeId | null) => (byNode.get(of) ?? []).map(({ kind, id }) => ({ kind, id }));
  const everyone = plain(null);
  const news = new Set(rows.filter(({ isNew }) => isNew).map(({ nodeId }) => nodeId));
  return {
    of: (nodeId) => (byNode.has(nodeId) ? [...everyone, ...plain(nodeId)] : everyone),
    isNew: (nodeId) => news.has(null) || news.has(nodeId),
  };
}
