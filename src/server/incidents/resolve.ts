/** An incident whose cause is gone, and that needs no person to say so. */
import type { IncidentCategory } from "../../core/incident/states.ts";
import type { Transaction } from "../db/database.ts";
import { appendEvents } from "../events/append.ts";

/** Stands where a person's name would. */
const BY_ITSELF = "fairlead";

interface Resolved {
  readonly id: string;
  readonly severity: string;
  readonly title: string;
}

/** Of the whole site: incidents of a category that belong to no node and no rollout. */
export async function resolveByItself(
  tx: Transaction,
  category: IncidentCategory,
  note: string,
): Promise<void> {
  const resolved = await tx<Resolved[]>`
    update incidents set status = 'resolved', resolved_by = ${BY_ITSELF}, resolved_at = clock_timestamp(),
      note = coalesce(note, ${note})
    where category = ${category} and status <> 'resolved' and node_id is null and rollout_id is null
    returning id, severity, title`;
  await appendEvents(
    tx,
    resolved.map(({ id, severity, title }) => ({
      kind: "incident.resolved",
      actor: BY_ITSELF,
      data: { incident_id: id, category, severity, title, note },
    })),
  );
}
