/** What one node of a rollout shows: its status, and while it works the phase and the direction. */
import type { NodeUpgradeView } from "../../../core/protocol/operator-api.ts";
import { PHASE_LABELS, UPGRADE_LOOKS, type Look } from "../../ui/tones.ts";

type Shown = Pick<
  NodeUpgradeView,
  "status" | "upgrade_phase" | "direction" | "retry_requested" | "silent_since"
>;

export function nodeLook({ status, upgrade_phase, direction, retry_requested, silent_since }: Shown): Look {
  const base = UPGRADE_LOOKS[status];
  if (retry_requested) return { ...base, label: `${base.label}, waits for its retry` };
  if (status !== "in_progress") return base;
  if (silent_since !== null) return { tone: "warn", icon: base.icon, label: "Silent" };
  const label = upgrade_phase === null ? base.label : PHASE_LABELS[upgrade_phase];
  if (direction === "reverse") return { tone: "warn", icon: "undo", label: `Undo: ${label.toLowerCase()}` };
  return { ...base, icon: upgrade_phase === "VERIFYING" ? "eye" : "progress", label };
}
