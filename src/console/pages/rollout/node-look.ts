/** What one node of a rollout shows: its status, and while it works the phase and the direction. */
import type { NodeUpgradeView } from "../../../core/protocol/operator-api.ts";
import { UPGRADE_PHASES } from "../../../core/upgrade/phases.ts";
import { PHASE_LABELS, UPGRADE_LOOKS, type Look } from "../../ui/tones.ts";

type Shown = Pick<NodeUpgradeView, "status" | "upgrade_phase" | "direction">;

export function nodeLook({ status, upgrade_phase, direction }: Shown): Look {
  const base = UPGRADE_LOOKS[status];
  if (status !== "in_progress") return base;
  const label = upgrade_phase === null ? base.label : PHASE_LABELS[upgrade_phase];
  if (direction === "reverse") return { tone: "warn", icon: "undo", label: `Undo: ${label.toLowerCase()}` };
  return { ...base, icon: upgrade_phase === "VERIFYING" ? "eye" : "progress", label };
}

/** The phase's place in its order, for cells that are too small for its name; null when no phase is shown. */
export function phaseNumber({ status, upgrade_phase }: Shown): number | null {
  if (status !== "in_progress" || upgrade_phase === null) return null;
  return UPGRADE_PHASES.indexOf(upgrade_phase) + 1;
}
