/** The signs and colours of the live pictures. */
import type { GroupStatus } from "../../core/group/states.ts";
import type { NodeUpgradeStatus, RolloutStatus } from "../../core/rollout/states.ts";
import type { Paint } from "../output.ts";

type Style = Parameters<Paint>[0];
type Mark = readonly [mark: string, style: Style];

export const NODE_MARKS: Readonly<Record<NodeUpgradeStatus, Mark>> = {
  pending: ["·", "dim"],
  in_progress: ["▶", "cyan"],
  succeeded: ["✔", "green"],
  failed: ["✗", "red"],
  rolled_back: ["↺", "yellow"],
  failed_rollback: ["✗", "red"],
  skipped: ["-", "dim"],
};

export const ROLLOUT_MARKS: Readonly<Record<RolloutStatus, Mark>> = {
  pending: ["·", "dim"],
  running: ["▶", "cyan"],
  paused: ["‖", "yellow"],
  rolling_back: ["↺", "yellow"],
  completed: ["✔", "green"],
  failed: ["✗", "red"],
  cancelled: ["-", "yellow"],
  rolled_back: ["↺", "yellow"],
};

export const STATUS_STYLE: Readonly<Partial<Record<RolloutStatus | GroupStatus, Style>>> = {
  completed: "green",
  failed: "red",
  partial: "red",
  cancelled: "yellow",
  paused: "yellow",
  rolling_back: "yellow",
  rolled_back: "yellow",
  running: "cyan",
};
