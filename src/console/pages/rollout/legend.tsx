import { UPGRADE_PHASES } from "../../../core/upgrade/phases.ts";
import { NODE_UPGRADE_STATUSES } from "../../../core/rollout/states.ts";
import { Icon } from "../../ui/icon.tsx";
import { PHASE_LABELS, UPGRADE_LOOKS } from "../../ui/tones.ts";

/** Small cells show a sign or the number of a phase. */
export function Legend() {
  return (
    <ul className="legend" aria-label="Legend">
      {NODE_UPGRADE_STATUSES.filter((status) => status !== "in_progress").map((status) => (
        <li key={status} data-tone={UPGRADE_LOOKS[status].tone}>
          <span className="legend-sign">
            <Icon name={UPGRADE_LOOKS[status].icon} />
          </span>
          {UPGRADE_LOOKS[status].label}
        </li>
      ))}
      {UPGRADE_PHASES.map((phase, index) => (
        <li key={phase} data-tone="info">
          <span className="legend-sign">{index + 1}</span>
          {PHASE_LABELS[phase]}
        </li>
      ))}
    </ul>
  );
}
