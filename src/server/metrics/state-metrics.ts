/** Gauges of what stands in the rows when they are scraped: the same on every replica, and right after a restart. */
import {
  CLAIMED_HEALTH,
  claimOf,
  contactOf,
  worstHealth,
  type ClaimedHealth,
} from "../../core/health/claim.ts";
import type { NodeState } from "../../core/protocol/agent-api.ts";
import type { Database } from "../db/database.ts";
import type { ServerMetrics } from "./server-metrics.ts";

export function gaugeState(metrics: ServerMetrics, db: Database): void {
  metrics.beforeScrape(async () => {
    const nodes = await db<{ state: string; count: number }[]>`
      select s.state, count(*)::int as count from nodes n join shown_states s on s.node_id = n.id
      where n.enrolled_at is not null and n.revoked_at is null group by s.state`;
    const incidents = await db<{ category: string; severity: string; count: number }[]>`
      select category, severity, count(*)::int as count from incidents
      where status <> 'resolved' group by category, severity`;
    const [pending] = await db<{ count: number }[]>`
      select count(*)::int as count from webhook_deliveries where status = 'pending'`;
    const readers = await db<{ reader: string; lag: number }[]>`
      select reader, (select coalesce(max(id), 0) from events) - event_id as lag from event_cursors`;
    const health = await healthCounts(db);
    for (const each of CLAIMED_HEALTH) metrics.nodesHealth.set({ health: each }, health.get(each) ?? 0);
    for (const gauge of [metrics.nodes, metrics.incidentsOpen, metrics.eventReaderLag]) gauge.reset();
    for (const { state, count } of nodes) metrics.nodes.set({ state }, count);
    for (const { category, severity, count } of incidents)
      metrics.incidentsOpen.set({ category, severity }, count);
    metrics.webhookDeliveriesPending.set({}, pending!.count);
    for (const { reader, lag } of readers) metrics.eventReaderLag.set({ reader }, lag);
  });
}

/** Counted by the database in groups of one second's age; the core decides what may be claimed of each group. */
async function healthCounts(db: Database): Promise<ReadonlyMap<ClaimedHealth, number>> {
  const groups = await db<
    { state: NodeState; age_s: number | null; reported: ClaimedHealth[]; count: number }[]
  >`
    select n.state, least(floor(extract(epoch from clock_timestamp() - hb.received_at)), 3600)::int as age_s,
      jsonb_path_query_array(coalesce(hb.programs, '[]'), '$[*].application_health') as reported, count(*)::int as count
    from nodes n left join node_heartbeats hb on hb.node_id = n.id
    where n.enrolled_at is not null and n.revoked_at is null group by 1, 2, 3`;
  const counts = new Map<ClaimedHealth, number>();
  for (const { state, age_s, reported, count } of groups) {
    const heardAt = age_s === null ? null : -age_s * 1_000;
    const contact = contactOf({ state, isEnrolled: true, isRevoked: false, heardAt }, 0);
    const claims = reported.map((health) =>
      claimOf({ application_health: health, sync_status: "unknown" }, contact),
    );
    const worst = worstHealth(claims.map((claim) => claim.application_health));
    counts.set(worst, (counts.get(worst) ?? 0) + count);
  }
  return counts;
}
