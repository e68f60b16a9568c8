/** The rows that health is judged by, as facts. Times are the database's own: heartbeats are stamped by it. */
import type { NodeId } from "../../core/ids.ts";
import type { HealthMemory, NodeFacts } from "../../core/health/evaluate.ts";
import type { NodeState } from "../../core/protocol/agent-api.ts";
import type { Transaction } from "../db/database.ts";

export interface JudgedNode {
  readonly nodeId: NodeId;
  readonly facts: NodeFacts;
}

interface Row {
  readonly node_id: NodeId;
  readonly state: NodeState;
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

/** Of the nodes that are enrolled and not revoked, those that the condition on `n`, `hb` and `nh` names. */
export async function loadFacts(
  tx: Transaction,
  hearingSince: number,
  condition: ReturnType<Transaction>,
): Promise<JudgedNode[]> {
  const rows = await tx<Row[]>`
    select n.id as node_id, n.state, n.state_changed_at, coalesce(hb.received_at, n.enrolled_at) as heard_at,
      coalesce(hb.programs @? '$[*] ? (@.application_health == "critical")', false) as critical,
      coalesce(hb.programs @? '$[*] ? (@.sync_status == "stalled")', false) as stalled,
      coalesce((select sum((program->>'restarts')::bigint) from jsonb_array_elements(hb.programs) as program), 0)::bigint
        as restarts,
      exists (select 1 from incidents i where i.node_id = n.id and i.status <> 'resolved' and i.severity = 'critical')
        as has_critical_incident,
      nh.well_since, nh.ill_since, coalesce(nh.seen_restarts, 0) as seen_restarts,
      coalesce(nh.base_restarts, 0) as base_restarts, nh.base_at
    from nodes n
    left join node_heartbeats hb on hb.node_id = n.id
    left join node_health nh on nh.node_id = n.id
    where n.enrolled_at is not null and n.revoked_at is null and ${condition}`;
  return rows.map((row) => ({ nodeId: row.node_id, facts: factsOf(row, hearingSince) }));
}

const ms = (at: Date | null): number | null => (at === null ? null : at.getTime());

const factsOf = (row: Row, hearingSince: number): NodeFacts => ({
  state: row.state,
  stateSince: row.state_changed_at.getTime(),
  heardAt: Math.max(row.heard_at.getTime(), hearingSince),
  program: row.critical ? "critical" : row.stalled ? "stalled" : "well",
  restarts: row.restarts,
  hasCriticalIncident: row.has_critical_incident,
  memory: memoryOf(row),
});

const memoryOf = (row: Row): HealthMemory => ({
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
