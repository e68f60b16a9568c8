/** Nodes whose turn it is: their profile leaves service, with the next number of the node's commands and what it comes from. */
import type { Digest, NodeId, RolloutId } from "../../core/ids.ts";
import type { Transaction } from "../db/database.ts";

export interface Launched extends Previous {
  readonly node_id: NodeId;
  readonly sequence: number;
  /** What it runs now, as recorded. */
  readonly current: Digest | null;
}

interface Previous {
  readonly previous_version: string | null;
  readonly previous_binary_url: string | null;
  readonly previous_checksum: Digest | null;
  /** Whose assignment it had: that one is restored when nothing was changed. */
  readonly previous_rollout_id: RolloutId | null;
}

interface Moved extends Launched {
  readonly is_first: boolean;
  readonly current_version: string | null;
  readonly assigned_by: RolloutId | null;
}

/** Takes the next sequence of each node and puts its profile into maintenance, but for revoked ones; tells what it comes from. */
export async function enterMaintenance(
  tx: Transaction,
  rolloutId: RolloutId,
  nodeIds: readonly NodeId[],
): Promise<Launched[]> {
  const rows = await tx<Moved[]>`
    with profile as materialized (select chain_profile_id from rollouts where id = ${rolloutId}),
    entered as (
      update node_profiles np set state = 'maintenance' from profile
      where np.node_id = any(${nodeIds}) and np.chain_profile_id = profile.chain_profile_id
        and exists (select 1 from nodes known where known.id = np.node_id and known.revoked_at is null)
    )
    update nodes n set command_sequence = n.command_sequence + 1
    from unnest(${nodeIds}::uuid[]) as q(node_id)
    join rollout_nodes rn on rn.rollout_id = ${rolloutId} and rn.node_id = q.node_id
    left join node_config_state recorded on recorded.node_id = q.node_id
      and recorded.chain_profile_id = (select chain_profile_id from profile)
    left join service_assignments sa on sa.node_id = q.node_id and sa.chain_profile_id = recorded.chain_profile_id
      and sa.kind = 'settled' and sa.target_fp = recorded.fingerprint
    where n.id = q.node_id and n.revoked_at is null
    returning n.id as node_id, n.command_sequence as sequence, rn.attempt_count = 0 or (recorded.fingerprint <> rn.previous_checksum
        and recorded.fingerprint <> (select target_binary_checksum from rollouts where id = ${rolloutId})) as is_first,
      rn.previous_version, rn.previous_binary_url, rn.previous_checksum, rn.previous_rollout_id, sa.rollout_id as assigned_by,
      recorded.binary_version as current_version, recorded.fingerprint as current`;
  const urls = await urlsOf(tx, new Set(rows.flatMap((row) => (row.is_first ? [row.current] : []))));
  return rows.map(({ is_first, current_version, assigned_by, ...row }) =>
    // What the first attempt came from stays the way back of all later ones, unless a person has put in something else.
    is_first
      ? {
          ...row,
          previous_version: current_version,
          previous_checksum: row.current,
          previous_binary_url: urls.get(row.current) ?? null,
          previous_rollout_id: assigned_by,
        }
      : row,
  );
}

/** Where the bytes came from, by the newest rollout that brought them. */
async function urlsOf(
  tx: Transaction,
  fingerprints: ReadonlySet<Digest | null>,
): Promise<Map<Digest | null, string>> {
  const rows = await tx<{ fingerprint: Digest; url: string }[]>`
    select distinct on (target_binary_checksum) target_binary_checksum as fingerprint, target_binary_url as url
    from rollouts where target_binary_checksum = any(${[...fingerprints].filter((each) => each !== null)})
    order by target_binary_checksum, created_at desc`;
  return new Map(rows.map(({ fingerprint, url }) => [fingerprint, url]));
}
