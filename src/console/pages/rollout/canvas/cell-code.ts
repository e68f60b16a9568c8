/** What a cell shows as one small number: cells with the same one look the same, and a changed one is drawn again. */
import type { NodeUpgradeView } from "../../../../core/protocol/operator-api.ts";
import { NODE_UPGRADE_STATUSES } from "../../../../core/rollout/states.ts";
import { UPGRADE_PHASES } from "../../../../core/upgrade/phases.ts";
import { UPGRADE_LOOKS, type IconName, type Tone } from "../../../ui/tones.ts";

const PHASES = UPGRADE_PHASES.length + 1; // one for a node at work that has told no phase
const AT_WORK = NODE_UPGRADE_STATUSES.length;
export const CODES = AT_WORK + 2 * PHASES;

type Shown = Pick<NodeUpgradeView, "status" | "upgrade_phase" | "direction">;

export function codeOf({ status, upgrade_phase, direction }: Shown): number {
  if (status !== "in_progress") return NODE_UPGRADE_STATUSES.indexOf(status);
  const phase = upgrade_phase === null ? 0 : UPGRADE_PHASES.indexOf(upgrade_phase) + 1;
  return AT_WORK + (direction === "reverse" ? PHASES : 0) + phase;
}

/** A sign or the number of a phase, so that colour never stands alone. */
export interface CellLook {
  readonly tone: Tone;
  readonly sign: IconName | number;
}

export function lookOfCode(code: number): CellLook {
  if (code < AT_WORK) {
    const { tone, icon } = UPGRADE_LOOKS[NODE_UPGRADE_STATUSES[code]!];
    return { tone, sign: icon };
  }
  const phase = (code - AT_WORK) % PHASES;
  const tone = code - AT_WORK < PHASES ? "info" : "warn";
  return { tone, sign: phase === 0 ? "progress" : phase };
}
