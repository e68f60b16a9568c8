/**
 * A person has seen an incident, or has dealt with it.
 *
 * 1. Asked for twice, it stands once, with the name and time of the first.
 */
import { FairleadError } from "../../core/errors.ts";
import { stepIncident, type IncidentStatus, type IncidentStep } from "../../core/incident/states.ts";
import type { IncidentId, IncidentStepRequest, IncidentView } from "../../core/protocol/incident-api.ts";
import type { Database, Transaction } from "../db/database.ts";
import { appendEvents } from "../events/append.ts";
import { readIncident } from "./read.ts";

const RESULT = { acknowledge: "acknowledged", resolve: "resolved" } as const satisfies Record<
  IncidentStep,
  IncidentStatus
>;

export async function stepIncidentRow(
  db: Database,
  id: IncidentId,
  step: IncidentStep,
  actor: string,
  { note }: IncidentStepRequest,
): Promise<IncidentView> {
  return db.begin(async (tx) => {
    const [row] = await tx<
      { status: IncidentStatus }[]
    >`select status from incidents where id = ${id} for update`;
    if (row === undefined) throw new FairleadError("NOT_FOUND", `there is no incident ${id}`);
    if (row.status === RESULT[step]) return readIncident(tx, id); // (1)
    if (stepIncident(row.status, step) === undefined)
      throw new FairleadError(
        "ILLEGAL_TRANSITION",
        `the incident is ${row.status}: it cannot be ${RESULT[step]}`,
        {
          status: row.status,
        },
      );
    await write(tx, id, step, actor, note ?? null);
    const incident = await readIncident(tx, id);
    const { rollout_id, node_id, category, severity, title } = incident;
    const data = { incident_id: id, category, severity, title, note: note ?? null };
    await appendEvents(tx, [{ kind: `incident.${RESULT[step]}`, rollout_id, node_id, actor, data }]);
    return incident;
  });
}

async function write(
  tx: Transaction,
  id: IncidentId,
  step: IncidentStep,
  actor: string,
  note: string | null,
): Promise<void> {
  if (step === "acknowledge")
    await tx`
      update incidents set status = 'acknowledged', acknowledged_by = ${actor}, acknowledged_at = now(),
        note = coalesce(${note}, note) where id = ${id}`;
  else
    await tx`
      update incidents set status = 'resolved', resolved_by = ${actor}, resolved_at = now(),
        note = coalesce(${note}, note) where id = ${id}`;
}
