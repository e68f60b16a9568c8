/** An incident as a decision asks for it; the server gives it an id and a life (ROLL-19). */
import type { Json } from "../json.ts";
import type { NodeId } from "../ids.ts";
import type { IncidentCategory, Severity } from "./states.ts";

export interface IncidentDraft {
  readonly category: IncidentCategory;
  readonly severity: Severity;
  readonly nodeId: NodeId | null;
  /** What it is about, where that is neither the node nor the rollout: a key, a certificate, many nodes. */
  readonly subject?: string;
  readonly title: string;
  readonly detail: Readonly<Record<string, Json>>;
  /** What the manifest says to do when the old program cannot read the new one's state (ROLL-16). */
  readonly recoveryPlan: string | null;
}
