/** What a message says of a rollout or an incident: enough to act on without asking back. */
import type { Json } from "../../core/json.ts";
import type { StoredEvent } from "../../core/notify/notifications.ts";
import type { Transaction } from "../db/database.ts";

export type Summary = { readonly [key: string]: Json };
export type Summaries = ReadonlyMap<string, Summary>;

export const incidentIdOf = ({ kind, data }: StoredEvent): string | null =>
  kind.startsWith("incident.") && typeof data["incident_id"] === "string" ? data["incident_id"] : null;

export async function rolloutSummaries(tx: Transaction, ids: readonly string[]): Promise<Summaries> {
  if (ids.length === 0) return new Map();
  const rows = await tx<({ id: string } & Summary)[]>`
    select id, group_id, chain_profile_id, node_type, upgrade_id, binary_name, source_version, target_version, strategy,
      status, why, current_batch, batch_count, total_nodes, succeeded_nodes, failed_nodes, pending_nodes, created_by
    from rollouts where id = any(${[...ids]})`;
  return new Map(rows.map((row) => [row.id, { ...row }]));
}

export async function incidentSummaries(tx: Transaction, ids: readonly string[]): Promise<Summaries> {
  if (ids.length === 0) return new Map();
  const rows = await tx<({ id: string; opened_at: Date; resolved_at: Date | null } & Summary)[]>`
    select i.id, i.category, i.severity, i.status, i.subject, i.title, i.detail, i.recovery_plan, i.rollout_id, i.node_id,
      n.name as node_name, i.opened_at, i.resolved_at, i.resolved_by, i.note
    from incidents i left join nodes n on n.id = i.node_id where i.id = any(${[...ids]})`;
  return new Map(
    rows.map((row) => [
      row.id,
      { ...row, opened_at: row.opened_at.toISOString(), resolved_at: row.resolved_at?.toISOString() ?? null },
    ]),
  );
}
