/**
 * Incidents are opened in the transaction of the decision that asks for them.
 *
 * 1. The same trouble (category, node, rollout, subject) is one incident until it is resolved, however often it is decided.
 * 2. An incident that was opened leaves an event; one that was open already leaves none.
 */
import type { NodeId, RolloutId } from "../../core/ids.ts";
import type { IncidentDraft } from "../../core/incident/draft.ts";
import { WATCHED_CATEGORIES } from "../../core/incident/states.ts";
import type { IncidentId } from "../../core/protocol/incident-api.ts";
import type { Transaction } from "../db/database.ts";
import { appendEvents } from "../events/append.ts";

interface Opened {
  readonly id: IncidentId;
  readonly category: string;
  readonly severity: string;
  readonly node_id: NodeId | null;
  readonly title: string;
}

export async function raiseIncidents(
  tx: Transaction,
  rolloutId: RolloutId | null,
  drafts: readonly IncidentDraft[],
  now: number,
): Promise<void> {
  if (drafts.length === 0) return;
  const opened = await tx<Opened[]>`
    insert into incidents (id, category, severity, node_id, rollout_id, subject, title, detail, recovery_plan, opened_at,
      last_seen_at)
    select gen_random_uuid(), d.category, d.severity, d."nodeId", ${rolloutId}, coalesce(d.subject, ''), d.title, d.detail,
      d."recoveryPlan", ${new Date(now)},
      case when d.category = any(${[...WATCHED_CATEGORIES]}) then ${new Date(now)}::timestamptz end
    from jsonb_to_recordset(${tx.json(drafts as never)}) as d(category text, severity text, "nodeId" uuid, subject text,
      title text, detail jsonb, "recoveryPlan" text)
    on conflict (category, node_id, rollout_id, subject) where status <> 'resolved' do nothing
    returning id, category, severity, node_id, title`; // (1)
  await appendEvents(
    tx,
    opened.map(({ id, category, severity, node_id, title }) => ({
      kind: "incident.opened",
      rollout_id: rolloutId,
      node_id,
      data: { incident_id: id, category, severity, title },
    })), // (2)
  );
}
