/** Incidents (ROLL-19): what a person must look at, and who has. */
import { z } from "zod";

/** Opened and resolved by what is seen of the fleet (core/incident/watch.ts). */
export const WATCHED_CATEGORIES = [
  "node_down",
  "crash_loop",
  "snapshot_rejected",
  "certificate_expiring",
  "key_expiring",
] as const;
export type WatchedCategory = (typeof WATCHED_CATEGORIES)[number];

export const INCIDENT_CATEGORIES = [
  "upgrade_failed",
  "upgrade_rollback_failed",
  "upgrade_stalled",
  "clock_disagrees",
  "identity_copied",
  "started_on_expired_authority",
  "intent_untrusted",
  ...WATCHED_CATEGORIES,
] as const;
export const IncidentCategory = z.enum(INCIDENT_CATEGORIES);
export type IncidentCategory = z.infer<typeof IncidentCategory>;

export const INCIDENT_STATUSES = ["open", "acknowledged", "resolved"] as const;
export const IncidentStatus = z.enum(INCIDENT_STATUSES);
export type IncidentStatus = z.infer<typeof IncidentStatus>;

export const INCIDENT_STEPS = ["acknowledge", "resolve"] as const;
export type IncidentStep = (typeof INCIDENT_STEPS)[number];

const INCIDENT_TRANSITIONS = {
  open: { acknowledge: "acknowledged", resolve: "resolved" },
  acknowledged: { resolve: "resolved" },
  resolved: {},
} as const satisfies Record<IncidentStatus, { [S in IncidentStep]?: IncidentStatus }>;

export function stepIncident(from: IncidentStatus, step: IncidentStep): IncidentStatus | undefined {
  const row: { [S in IncidentStep]?: IncidentStatus } = INCIDENT_TRANSITIONS[from];
  return row[step];
}

export const Severity = z.enum(["critical", "warning"]);
export type Severity = z.infer<typeof Severity>;
