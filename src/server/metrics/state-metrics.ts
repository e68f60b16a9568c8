/** Gauges of what stands in the rows when they are scraped: the same on every replica, and right after a restart. */
import type { Database } from "../db/database.ts";
import type { ServerMetrics } from "./server-metrics.ts";

export function gaugeState(metrics: ServerMetrics, db: Database): void {
  metrics.beforeScrape(async () => {
    const nodes = await db<{ state: string; count: number }[]>`
      select state, count(*)::int as count from nodes
      where enrolled_at is not null and revoked_at is null group by state`;
    const incidents = await db<{ category: string; severity: string; count: number }[]>`
      select category, severity, count(*)::int as count from incidents
      where status <> 'resolved' group by category, severity`;
    const [pending] = await db<{ count: number }[]>`
      select count(*)::int as count from webhook_deliveries where status = 'pending'`;
    const readers = await db<{ reader: string; lag: number }[]>`
      select reader, (select coalesce(max(id), 0) from events) - event_id as lag from event_cursors`;
    for (const gauge of [metrics.nodes, metrics.incidentsOpen, metrics.eventReaderLag]) gauge.reset();
    for (const { state, count } of nodes) metrics.nodes.set({ state }, count);
    for (const { category, severity, count } of incidents)
      metrics.incidentsOpen.set({ category, severity }, count);
    metrics.webhookDeliveriesPending.set({}, pending!.count);
    for (const { reader, lag } of readers) metrics.eventReaderLag.set({ reader }, lag);
  });
}
