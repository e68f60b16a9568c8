/**
 * Moves nodes and their profiles to other states, each only from the state that was judged, with an event for each move.
 * Rows that a rollout holds are left for the next look: an evaluator waits for no lock. The lock on a node guards the
 * rows of its profiles.
 */
import type { ProfileState } from "../../core/health/evaluate.ts";
import type { Presence } from "../../core/health/presence.ts";
import type { NodeId, ProfileId } from "../../core/ids.ts";
import type { Transaction } from "../db/database.ts";
import { appendEvents } from "../events/append.ts";

export interface PresenceChange {
  readonly nodeId: NodeId;
  readonly from: Presence;
  readonly to: Presence;
  readonly reason: string;
}

export interface ProfileChange {
  readonly nodeId: NodeId;
  readonly profile: ProfileId;
  readonly from: ProfileState;
  readonly to: ProfileState;
  readonly reason: string;
}

/** How many nodes moved. */
export async function changePresences(tx: Transaction, changes: readonly PresenceChange[]): Promise<number> {
  if (changes.length === 0) return 0;
  const moved = await tx<{ node_id: NodeId }[]>`
    with wanted as materialized (
      select n.id, c."to" from nodes n
      join jsonb_to_recordset(${tx.json(changes as never)}) as c("nodeId" uuid, "from" text, "to" text)
        on n.id = c."nodeId" and n.state = c."from"
      where n.revoked_at is null
      order by n.id for no key update of n skip locked)
    update nodes n set state = wanted."to" from wanted where n.id = wanted.id returning n.id as node_id`;
  const ids = new Set(moved.map((row) => row.node_id));
  await appendEvents(
    tx,
    changes
      .filter(({ nodeId }) => ids.has(nodeId))
      .map(({ nodeId, from, to, reason }) => ({
        kind: "node.state",
        node_id: nodeId,
        data: { from, to, reason },
      })),
  );
  return ids.size;
}

/** How many profiles of nodes moved. */
export async function changeProfiles(tx: Transaction, changes: readonly ProfileChange[]): Promise<number> {
  if (changes.length === 0) return 0;
  const moved = await tx<{ node_id: NodeId; profile: ProfileId }[]>`
    with held as materialized (
      select n.id from nodes n where n.id = any(${changes.map(({ nodeId }) => nodeId)}) and n.revoked_at is null
      order by n.id for no key update of n skip locked)
    update node_profiles np set state = c."to"
    from held join jsonb_to_recordset(${tx.json(changes as never)})
      as c("nodeId" uuid, profile text, "from" text, "to" text) on c."nodeId" = held.id
    where np.node_id = held.id and np.chain_profile_id = c.profile and np.state = c."from"
    returning np.node_id, np.chain_profile_id as profile`;
  const keyOf = (nodeId: NodeId, profile: ProfileId): string => `${nodeId} ${profile}`;
  const keys = new Set(moved.map(({ node_id, profile }) => keyOf(node_id, profile)));
  await appendEvents(
    tx,
    changes
      .filter(({ nodeId, profile }) => keys.has(keyOf(nodeId, profile)))
      .map(({ nodeId, profile, from, to, reason }) => ({
        kind: "node.state",
        node_id: nodeId,
        data: { chain_profile_id: profile, from, to, reason },
      })),
  );
  return keys.size;
}
