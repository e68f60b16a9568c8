/** Compiles the `service_assignment` snapshot of each touched node from its rows, signs and stores it (SNAP-3, SNAP-14). */
import { randomUUID } from "node:crypto";
import { SnapshotId, type ClusterId, type Digest, type NodeId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Assignment, ServiceAssignmentContent } from "../../core/snapshot/service-assignment.ts";
import type { NodeRole } from "../../core/snapshot/scopes.ts";
import type { Signer } from "../../trust/keys.ts";
import { signSnapshot } from "../../trust/snapshot.ts";
import type { Transaction } from "../db/database.ts";

export interface Authority {
  readonly clusterId: ClusterId;
  readonly signer: Signer;
}

export interface PublishedAssignment {
  readonly nodeId: NodeId;
  readonly version: number;
}

interface AssignmentRecord {
  readonly node_id: NodeId;
  readonly chain_profile_id: Assignment["chain_profile_id"];
  readonly kind: Assignment["kind"];
  readonly current_fp: Digest | null;
  readonly target_fp: Digest;
  readonly rollback_fp: Digest | null;
  readonly intent_digest: Digest | null;
  readonly rollout_id: Assignment["rollout_id"];
}

export async function publishAssignments(
  tx: Transaction,
  authority: Authority,
  nodeIds: readonly NodeId[],
  now: number,
): Promise<PublishedAssignment[]> {
  if (nodeIds.length === 0) return [];
  const nodes = await tx<{ id: NodeId; assignment_version: number; roles: NodeRole[]; epoch: number }[]>`
    update nodes set assignment_version = assignment_version + 1 where id = any(${nodeIds})
    returning id, assignment_version, roles, (select epoch from clusters) as epoch`;
  const rows = await tx<AssignmentRecord[]>`
    select * from service_assignments where node_id = any(${nodeIds}) order by node_id, chain_profile_id`;
  const byNode = Map.groupBy(rows, (row) => row.node_id);
  const frames = nodes.map((node) => {
    const content: ServiceAssignmentContent = { assignments: (byNode.get(node.id) ?? []).map(assignmentOf) };
    const { header, frame } = signSnapshot(
      {
        snapshotId: SnapshotId.parse(randomUUID()),
        clusterId: authority.clusterId,
        subject: node.id,
        scope: "service_assignment",
        roles: node.roles,
        version: node.assignment_version,
        epoch: node.epoch,
        issuedAt: now,
        lifetimeMs: LIMITS.assignmentLifetimeMs,
        content,
      },
      [authority.signer],
    );
    return {
      node_id: node.id,
      epoch: node.epoch,
      version: node.assignment_version,
      frame: frame.toString("base64"),
      expires_at: header.expires_at,
    };
  });
  await tx`
    insert into snapshots (node_id, scope_type, authority_epoch, config_version, frame, expires_at)
    select f.node_id, 'service_assignment', f.epoch, f.version, decode(f.frame, 'base64'), f.expires_at
    from jsonb_to_recordset(${tx.json(frames)})
      as f(node_id uuid, epoch bigint, version bigint, frame text, expires_at timestamptz)
    on conflict (node_id, scope_type) do update set authority_epoch = excluded.authority_epoch,
      config_version = excluded.config_version, frame = excluded.frame, expires_at = excluded.expires_at, created_at = now()`;
  return nodes.map((node) => ({ nodeId: node.id, version: node.assignment_version }));
}

function assignmentOf(row: AssignmentRecord): Assignment {
  const { chain_profile_id, rollout_id, intent_digest } = row;
  if (row.kind === "upgrading") {
    return {
      kind: row.kind,
      chain_profile_id,
      rollout_id,
      intent_digest,
      current: row.current_fp,
      target: row.target_fp,
    };
  }
  return {
    kind: row.kind,
    chain_profile_id,
    rollout_id,
    intent_digest,
    target: row.target_fp,
    rollback: row.rollback_fp,
  };
}
