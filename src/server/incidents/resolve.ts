/** An incident whose cause is gone, and that needs no person to say so. */
import type { NodeId, RolloutId } from "../../core/ids.ts";
import type { IncidentCategory } from "../../core/incident/states.ts";
import type { IncidentId } from "../../core/protocol/incident-api.ts";
import type { Transaction } from "../db/database.ts";
import { appendEvents } from "../events/append.ts";

/** Stands where a person's name would. */
const BY_ITSELF = "fairlead";

interface Resolved {
  readonly id: string;
  readonly category: IncidentCategory;
  readonly severity: string;
  readonly node_id: NodeId | null;
  readonly title: string;
}

/** Of the named nodes; null: of the whole site, incidents that belong to no node. None belongs to a rollout. */
export const resolveByItself = (
  tx: Transaction,
  category: IncidentCategory,
  note: string,
  nodeIds: readonly NodeId[] | null = null,
): Promise<void> =>
  resolveWhere(
    tx,
    tx`category = ${category} and rollout_id is null
      and ${nodeIds === null ? tx`node_id is null` : tx`node_id = any(${[...nodeIds]}::uuid[])`}`,
    note,
    null,
  );

/** Of a rollout that goes on or has ended. */
export const resolveOfRollout = (
  tx: Transaction,
  category: IncidentCategory,
  rolloutId: RolloutId,
  note: string,
): Promise<void> =>
  resolveWhere(tx, tx`category = ${category} and rollout_id = ${rolloutId} and node_id is null`, note, null);

export async function resolveNamed(
  tx: Transaction,
  ids: readonly IncidentId[],
  note: string,
  now: number,
): Promise<void> {
  if (ids.length > 0) await resolveWhere(tx, tx`id = any(${[...ids]})`, note, new Date(now));
}

async function resolveWhere(
  tx: Transaction,
  condition: ReturnType<Transaction>,
  note: string,
  at: Date | null,
): Promise<void> {
  const resolved = await tx<Resolved[]>`
    update incidents set status = 'resolved', resolved_by = ${BY_ITSELF},
      resolved_at = coalesce(${at}::timestamptz, clock_timestamp()), note = coalesce(note, ${note})
    where status <> 'resolved' and ${condition} returning id, category, severity, node_id, title`;
  await appendEvents(
    tx,
    resolved.map(({ id, category, severity, node_id, title }) => ({
      kind: "incident.resolved",
      node_id,
      actor: BY_ITSELF,
      data: { incident_id: id, category, severity, title, note },
    })),
  );
}
