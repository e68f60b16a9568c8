/** The rows that health is judged by, as facts. Times are the database's own: heartbeats are stamped by it. */
import type { HealthMemory, ProfileState, ProgramFacts } from "../../core/health/evaluate.ts";
import type { Presence, PresenceFacts } from "../../core/health/presence.ts";
import type { NodeId, ProfileId } from "../../core/ids.ts";
import { WATCHED_CATEGORIES } from "../../core/incident/states.ts";
import type { Transaction } from "../db/database.ts";

export interface KnownNode {
  readonly nodeId: NodeId;
  readonly facts: PresenceFacts;
}

export interface KnownProgram {
  readonly nodeId: NodeId;
  readonly profile: ProfileId;
  readonly facts: ProgramFacts;
}

interface NodeRow {
  readonly node_id: NodeId;
  readonly state: Presence;
  readonly state_changed_at: Date;
  readonly heard_at: Date;
  readonly in_maintenance: boolean;
  readonly well_since: Date | null;
}

/** Of the nodes that are enrolled and not revoked, those that the condition on `n`, `hb` and `nh` names. */
export async function loadNodes(
  tx: Transaction,
  hearingSince: number,
  condition: ReturnType<Transaction>,
): Promise<KnownNode[]> {
  const rows = await tx<NodeRow[]>`
    select n.id as node_id, n.state, n.state_changed_at, coalesce(hb.received_at, n.enrolled_at) as heard_at, nh.well_since,
      exists (select 1 from node_profiles np where np.node_id = n.id and np.state = 'maintenance') as in_maintenance
    from nodes n
    left join node_heartbeats hb on hb.node_id = n.id
    left join node_health nh on nh.node_id = n.id
    where n.enrolled_at is not null and n.revoked_at is null and ${condition}`;
  return rows.map((row) => ({
    nodeId: row.node_id,
    facts: {
      state: row.state,
      stateSince: row.state_changed_at.getTime(),
      heardAt: Math.max(row.heard_at.getTime(), hearingSince),
      inMaintenance: row.in_maintenance,
      wellSince: ms(row.well_since),
    },
  }));
}

interface ProgramRow {
  readonly node_id: NodeId;
  readonly profile: ProfileId;
  readonly state: ProfileState;
  readonly state_changed_at: Date;
  readonly heard_at: Date;
  readonly critical: boolean;
  readonly stalled: boolean;
  readonly restarts: number;
  readonly has_critical_incident: boolean;
  readonly well_since: Date | null;
  readonly ill_since: Date | null;
  readonly seen_restarts: number;
  readonly base_restarts: number;
  readonly base_at: Date | null;
}

/**
 * Of the profiles of nodes that are enrolled and not revoked, those that the condition on `np`, `n`, `hb` and `ph` names.
 * An incident concerns the profile of its rollout; one without a rollout concerns every profile of its node. Incidents
 * about the node's health resolve when it is well, and hold nothing back.
 */
export async function loadPrograms(
  tx: Transaction,
  hearingSince: number,
  condition: ReturnType<Transaction>,
): Promise<KnownProgram[]> {
  const rows = await tx<ProgramRow[]>`
    select np.node_id, np.chain_profile_id as profile, np.state, np.state_changed_at,
      coalesce(hb.received_at, n.enrolled_at) as heard_at,
      coalesce(program.report->>'application_health' = 'critical', false) as critical,
      coalesce(program.report->>'sync_status' = 'stalled', false) as stalled,
      coalesce((program.report->>'restarts')::bigint, 0)::bigint as restarts,
      exists (
        select 1 from incidents i left join rollouts r on r.id = i.rollout_id
        where i.node_id = n.id and i.status <> 'resolved' and i.severity = 'critical'
          and i.category <> all(${[...WATCHED_CATEGORIES]})
          and coalesce(r.chain_profile_id, np.chain_profile_id) = np.chain_profile_id
      ) as has_critical_incident,
      ph.well_since, ph.ill_since, coalesce(ph.seen_restarts, 0) as seen_restarts,
      coalesce(ph.base_restarts, 0) as base_restarts, ph.base_at
    from node_profiles np
    join nodes n on n.id = np.node_id
    left join node_heartbeats hb on hb.node_id = n.id
    left join profile_health ph on ph.node_id = np.node_id and ph.chain_profile_id = np.chain_profile_id
    left join lateral (
      select report from jsonb_array_elements(hb.programs) as report
      where report->>'chain_profile_id' = np.chain_profile_id limit 1
    ) program on true
    where n.enrolled_at is not null and n.revoked_at is null and ${condition}`;
  return rows.map((row) => ({
    nodeId: row.node_id,
    profile: row.profile,
    facts: {
      state: row.state,
      stateSince: row.state_changed_at.getTime(),
      heardAt: Math.max(row.heard_at.getTime(), hearingSince),
      program: row.critical ? "critical" : row.stalled ? "stalled" : "well",
      restarts: row.restarts,
      hasCriticalIncident: row.has_critical_incident,
      memory: memoryOf(row),
    },
  }));
}

const ms = (at: Date | null): number | null => (at === null ? null : at.getTime());

const memoryOf = (row: ProgramRow): HealthMemory => ({
  wellSince: ms(row.well_since),
  illSince: ms(row.ill_since),
  seenRestarts: row.seen_restarts,
  baseRestarts: row.base_restarts,
  baseAt: ms(row.base_at),
});

export async function databaseNow(tx: Transaction): Promise<number> {
  const [row] = await tx<{ now: Date }[]>`select clock_timestamp() as now`;
  return row!.now.getTime();
}
