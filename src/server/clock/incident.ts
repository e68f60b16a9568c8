/** The incident of clocks that disagree: one for the site, resolved by itself when every live replica signs again. */
import type { IncidentDraft } from "../../core/incident/draft.ts";
import type { Database } from "../db/database.ts";
import { databaseNow } from "../health/facts.ts";
import { raiseIncidents } from "../incidents/raise.ts";
import { resolveByItself } from "../incidents/resolve.ts";

export async function openClockIncident(db: Database, problem: string, replicaId: string): Promise<void> {
  const draft: IncidentDraft = {
    category: "clock_disagrees",
    severity: "critical",
    nodeId: null,
    title: "The clocks of the control plane disagree: nothing is signed",
    detail: { code: "CLOCK_DISAGREES", problem, replica: replicaId },
    recoveryPlan: null,
  };
  await db.begin(async (tx) => raiseIncidents(tx, null, [draft], await databaseNow(tx)));
}

export const closeClockIncident = (db: Database): Promise<void> =>
  db.begin((tx) => resolveByItself(tx, "clock_disagrees", "the clocks agree again"));
