import { Link } from "@tanstack/react-router";
import type { RolloutView } from "../../../core/protocol/operator-api.ts";
import { ProgressBar } from "../../ui/progress-bar.tsx";
import { RolloutChip } from "../../ui/rollout-chip.tsx";
import { Versions } from "../../ui/versions.tsx";

export function RolloutCard({ rollout }: { readonly rollout: RolloutView }) {
  const { counters } = rollout;
  return (
    <article className="rollout-card">
      <div className="rollout-card-head">
        <h3>
          <Link to="/rollouts/$rolloutId" params={{ rolloutId: rollout.id }}>
            {rollout.chain_profile_id} <Versions from={rollout.source_version} to={rollout.target_version} />
          </Link>
        </h3>
        <RolloutChip rollout={rollout} />
      </div>
      <ProgressBar counters={counters} />
      <p className="rollout-card-foot">
        <span className="numbers">
          {counters.succeeded} of {counters.total} upgraded
          {counters.failed + counters.failed_rollback > 0
            ? `, ${counters.failed + counters.failed_rollback} failed`
            : ""}
        </span>
        <span className="muted">{rollout.why?.text ?? ""}</span>
      </p>
    </article>
  );
}
