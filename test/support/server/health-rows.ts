// Rows around nodes and rollouts for tests that begin in the middle of a story.

import { randomUUID } from "node:crypto";
import { NodeId, RolloutId } from "../../../src/core/ids.ts";
import type { ProfileState } from "../../../src/core/health/evaluate.ts";
import type { Presence } from "../../../src/core/health/presence.ts";
import type { Database } from "../../../src/server/db/database.ts";

export async function insertNode(
  db: Database,
  name: string,
  {
    state = "active",
    program = "active",
    enrolled = true,
    revoked = false,
  }: { state?: Presence; program?: ProfileState; enrolled?: boolean; revoked?: boolean } = {},
): Promise<NodeId> {
  const id = NodeId.parse(randomUUID());
  await db`
    insert into nodes (id, name, node_type, roles, state, enrolled_at, revoked_at, state_changed_at)
    values (${id}, ${name}, 'edge', '{egress_service}', ${state},
      ${enrolled ? db`now() - interval '1 day'` : null}, ${revoked ? db`now()` : null}, now() - interval '1 day')`;
  await insertProfile(db, id, "web", program);
  return id;
}

/** Since a day ago. */
export async function insertProfile(
  db: Database,
  nodeId: NodeId,
  profile: string,
  state: ProfileState = "active",
): Promise<void> {
  await db`
    insert into node_profiles (node_id, chain_profile_id, state, state_changed_at)
    values (${nodeId}, ${profile}, ${state}, now() - interval '1 day')`;
}

export interface Beat {
  readonly agoMs?: number;
  readonly health?: "ok" | "degraded" | "critical";
  readonly sync?: "synced" | "syncing" | "stalled";
  readonly restarts?: number;
  /** Profiles of further programs, which are well. */
  readonly beside?: readonly string[];
}

export async function beat(db: Database, nodeId: NodeId, said: Beat = {}): Promise<void> {
  const { agoMs = 0, health = "ok", sync = "synced", restarts = 0, beside = [] } = said;
  const well = { application_health: "ok", sync_status: "synced", restarts: 0 };
  const programs = [
    ...beside.map((profile) => ({ chain_profile_id: profile, ...well })),
    { chain_profile_id: "web", application_health: health, sync_status: sync, restarts },
  ];
  await db`
    insert into node_heartbeats (node_id, received_at, agent_version, applied, programs)
    values (${nodeId}, clock_timestamp() - make_interval(secs => ${agoMs / 1000}), '1', '{}', ${db.json(programs)})
    on conflict (node_id) do update set received_at = excluded.received_at, programs = excluded.programs`;
}

export async function insertRollout(
  db: Database,
  { status = "running", profile = `p-${randomUUID().slice(0, 8)}`, total = 4, pending = 4 } = {},
): Promise<RolloutId> {
  const id = RolloutId.parse(randomUUID());
  await db`
    insert into rollouts (id, chain_profile_id, node_type, runtime, binary_name, source_version, target_version,
      target_binary_url, target_binary_checksum, manifest_content_hash, run, migration_type, strategy, batch_size,
      batch_count, failure_threshold, health_wait_ms, status, total_nodes, pending_nodes, rollback_allowed, canary_seed,
      created_by)
    values (${id}, ${profile}, 'edge', 'process', 'web', '1.0.0', '2.0.0', 'https://origin.test/web', 'sha256:aa',
      'sha256:bb', '{}', 'none', 'rolling', 2, 2, 0.1, 1000, ${status}, ${total}, ${pending}, true, 'seed', 'key:boss')`;
  return id;
}

export async function insertRolloutNode(
  db: Database,
  rolloutId: RolloutId,
  nodeId: NodeId,
  { status = "in_progress", phase = null }: { status?: string; phase?: string | null } = {},
): Promise<void> {
  await db`
    insert into rollout_nodes (rollout_id, node_id, batch_index, status, upgrade_phase)
    values (${rolloutId}, ${nodeId}, 0, ${status}, ${phase})`;
}
