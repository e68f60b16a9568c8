import { Link } from "@tanstack/react-router";
import { memo } from "react";
import type { RolloutView } from "../../../core/protocol/operator-api.ts";
import { Age } from "../../ui/age.tsx";
import { ProgressBar } from "../../ui/progress-bar.tsx";
import { RolloutChip } from "../../ui/rollout-chip.tsx";
import { Versions } from "../../ui/versions.tsx";

export const RolloutRow = memo(function RolloutRow({ rollout }: { readonly rollout: RolloutView }) {
  const { counters } = rollout;
  const failed = counters.failed + counters.failed_rollback;
  return (
    <tr>
      <th scope="row">
        <Link to="/rollouts/$rolloutId" params={{ rolloutId: rollout.id }}>
          {rollout.chain_profile_id} <Versions from={rollout.source_version} to={rollout.target_version} />
        </Link>
        <span className="row-note">
          {rollout.strategy.replaceAll("_", " ")}, {rollout.node_type}
        </span>
      </th>
      <td data-label="Status">
        <div>
          <RolloutChip rollout={rollout} />
          <span className="row-note">{rollout.why?.text ?? ""}</span>
        </div>
      </td>
      <td data-label="Progress">
        <div className="row-progress">
          <ProgressBar counters={counters} />
          <span className="row-note numbers">
            {counters.succeeded} of {counters.total} upgraded{failed > 0 ? `, ${failed} failed` : ""}
          </span>
        </div>
      </td>
      <td data-label="Created">
        <div>
          <Age at={rollout.created_at} />
          <span className="row-note">by {rollout.created_by}</span>
        </div>
      </td>
    </tr>
  );
});
