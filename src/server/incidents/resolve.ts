/** An incident whose cause is gone, and that needs no person to say so. */
import type { NodeId } from "../../core/ids.ts";
import type { IncidentCategory } from "../../core/incident/states.ts";
import type { Transaction } from "../db/database.ts";
import { appendEvents } from "../events/append.ts";

/** Stands where a person's name would. */
const BY_ITSELF = "fairlead";

interface Resolved {
  readonly id: string;
  readonly severity: string;
  readonly node_id: NodeId | null;
  readonly title: string;
}

/** Of the named nodes; null: of the whole site, incidents that belong to no node. None belongs to a rollout. */
export async function resolveByItself(
  tx: Transaction,
  category: IncidentCategory,
  note: string,
  nodeIds: readonly NodeId[] | null = null,
): Promise<void> {
  const resolved = await tx<Resolved[]>`
    update incidents set status = 'resolved', resolved_by = ${BY_ITSELF}, resolved_at = clock_timestamp(),
      note = coalesce(note, ${note})
    where category = ${category} and status <> 'resolved' and rollout_id is null
      and ${nodeIds === null ? tx`node_id is null` : tx`node_id = any(${[...nodeIds]}::uuid[])`}
    returning id, severity, node_id, title`;
  await appendEvents(
    tx,
    resolved.map(({ id, severity, node_id, title }) => ({
      kind: "incident.resolved",
      node_id,
      actor: BY_ITSELF,
      data: { incident_id: id, category, severity, title, note },
    })),
  );
}
