/** Which events go out on NATS, and under which subject (ROLL-19). */
import { isActive, isSettled, type NodeUpgradeStatus, type RolloutStatus } from "../rollout/states.ts";
import type { StoredEvent } from "./notifications.ts";

export type RolloutSubject = "started" | "progress" | "completed";
export type NodeSubject = "upgrade_started" | "upgrade_completed" | "upgrade_phase_changed" | "state_changed";
export type IncidentSubject = "opened" | "acknowledged" | "resolved";

export const rolloutSubject = (id: string, what: RolloutSubject): string => `events.rollout.${id}.${what}`;
export const nodeSubject = (id: string, what: NodeSubject): string => `events.node.${id}.${what}`;

/** By category, so that a reader may listen for one kind of trouble: `events.incident.node_down.*`. */
const incidentSubject = (category: string, what: IncidentSubject): string =>
  `events.incident.${category}.${what}`;

const INCIDENT_SUBJECTS: Readonly<Record<string, IncidentSubject>> = {
  "incident.opened": "opened",
  "incident.acknowledged": "acknowledged",
  "incident.resolved": "resolved",
};

export function incidentSubjectOf({ kind, data }: StoredEvent): string | null {
  const what = INCIDENT_SUBJECTS[kind];
  const { category } = data;
  return what === undefined || typeof category !== "string" ? null : incidentSubject(category, what);
}

/** `completed` is told of every end; the message's status says which. */
export function rolloutSubjectOf({ kind, data }: StoredEvent): RolloutSubject | null {
  if (kind === "rollout.batch") return "progress";
  if (kind === "node.upgrade") return isOver(data) ? "progress" : null;
  if (kind !== "rollout.status") return null;
  if (data["from"] === "pending" && data["to"] === "running") return "started";
  return isActive(data["to"] as RolloutStatus) ? "progress" : "completed";
}

/** `previousPhase`: of the event before this one for the same node and rollout. */
export function nodeSubjectOf({ kind, data }: StoredEvent, previousPhase: string | null): NodeSubject | null {
  if (kind === "node.state") return "state_changed";
  if (kind !== "node.upgrade" || data["status"] === "skipped") return null;
  if (isOver(data)) return "upgrade_completed";
  if (data["status"] !== "in_progress") return null;
  // A launch has no action yet; the agent's reports have one.
  if (data["phase"] === "PREPARING" && data["action"] === null) return "upgrade_started";
  return data["phase"] === previousPhase ? null : "upgrade_phase_changed";
}

const isOver = (data: StoredEvent["data"]): boolean => isSettled(data["status"] as NodeUpgradeStatus);
