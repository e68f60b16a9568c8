/** An incident, for people. */
import type { IncidentView } from "../../core/protocol/incident-api.ts";
import { ageOf } from "../duration.ts";
import { fields, printable, table, type Paint } from "../output.ts";

const SEVERITY_STYLES = { critical: "red", warning: "yellow" } as const;

/** Severities are coloured while they are unresolved, after the columns were measured. */
export function incidentTable(incidents: readonly IncidentView[], now: number, paint: Paint): string {
  if (incidents.length === 0) return "";
  const [head, ...rows] = plainTable(incidents, now).split("\n");
  const painted = rows.map((row, at) => {
    const { severity, status } = incidents[at]!;
    return status === "resolved" ? row : row.replace(severity, paint(SEVERITY_STYLES[severity], severity));
  });
  return [head, ...painted].join("\n");
}

function plainTable(incidents: readonly IncidentView[], now: number): string {
  return table(
    ["ID", "SEVERITY", "STATUS", "CATEGORY", "NODE", "ROLLOUT", "OPENED", "TITLE"],
    incidents.map((incident) => [
      incident.id.slice(0, 8),
      incident.severity,
      incident.status,
      incident.category,
      incident.node_name ?? "-",
      incident.rollout_id?.slice(0, 8) ?? "-",
      `${ageOf(incident.opened_at, now)} ago`,
      incident.title,
    ]),
  );
}

export function incidentText(incident: IncidentView): string {
  const by = (at: string | null, who: string | null): string | null =>
    at === null ? null : `${at}${who === null ? "" : ` by ${who}`}`;
  const facts = fields([
    ["incident", incident.id],
    ["title", incident.title],
    ["status", incident.status],
    ["category", `${incident.category}, ${incident.severity}`],
    ["node", incident.node_name === null ? null : `${incident.node_name} (${incident.node_id})`],
    ["rollout", incident.rollout_id],
    ["about", incident.subject === "" ? null : incident.subject],
    ["opened", incident.opened_at],
    ["last seen", incident.last_seen_at],
    ["acknowledged", by(incident.acknowledged_at, incident.acknowledged_by)],
    ["resolved", by(incident.resolved_at, incident.resolved_by)],
    ["note", incident.note],
    ...Object.entries(incident.detail).map(
      ([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)] as const,
    ),
  ]);
  if (incident.recovery_plan === null) return facts;
  const plan = incident.recovery_plan.split("\n").map((line) => `  ${printable(line)}`);
  return `${facts}\n\nrecovery plan\n${plan.join("\n")}`;
}
