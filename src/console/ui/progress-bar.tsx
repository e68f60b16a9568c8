/** Nodes by status as one bar: each part as long as its share. The words in it are for those who do not see it. */
import type { RolloutView } from "../../core/protocol/operator-api.ts";
import { NODE_UPGRADE_STATUSES, type NodeUpgradeStatus } from "../../core/rollout/states.ts";
import { UPGRADE_LOOKS } from "./tones.ts";
import "./progress-bar.css";

/** From what is good to what is open, so that a bar fills from the left. */
const ORDER = [
  "succeeded",
  "rolled_back",
  "failed",
  "failed_rollback",
  "in_progress",
  "skipped",
  "pending",
] as const satisfies readonly NodeUpgradeStatus[];

type Counters = RolloutView["counters"];

export function ProgressBar({ counters }: { readonly counters: Counters }) {
  return (
    <div className="progress-bar">
      <span className="visually-hidden">{progressText(counters)}</span>
      {ORDER.map((status) => (
        // A share without nodes stays, with no width: it grows in place instead of pushing in.
        <span
          key={status}
          className="progress-part"
          data-status={status}
          style={{ flexGrow: counters[status] }}
        />
      ))}
    </div>
  );
}

function progressText(counters: Counters): string {
  const parts = NODE_UPGRADE_STATUSES.filter((status) => counters[status] > 0).map(
    (status) => `${counters[status]} ${UPGRADE_LOOKS[status].label.toLowerCase()}`,
  );
  return `${counters.total} nodes: ${parts.length === 0 ? "none yet" : parts.join(", ")}`;
}
