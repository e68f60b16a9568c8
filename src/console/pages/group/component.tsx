import { Link } from "@tanstack/react-router";
import { memo } from "react";
import type { GroupView } from "../../../core/protocol/group-api.ts";
import { ProgressBar } from "../../ui/progress-bar.tsx";
import { RolloutChip } from "../../ui/rollout-chip.tsx";
import { Versions } from "../../ui/versions.tsx";

interface Props {
  readonly component: GroupView["components"][number];
  readonly isCurrent: boolean;
}

export const Component = memo(function Component({ component, isCurrent }: Props) {
  const { component_index, binary_name, rollout } = component;
  const { counters } = rollout;
  const failed = counters.failed + counters.failed_rollback;
  return (
    <article className="component" aria-current={isCurrent ? "step" : undefined}>
      <span className="component-number numbers" aria-hidden="true">
        {component_index + 1}
      </span>
      <h3>
        <Link to="/rollouts/$rolloutId" params={{ rolloutId: rollout.id }}>
          {binary_name} <Versions from={rollout.source_version} to={rollout.target_version} />
        </Link>
      </h3>
      <RolloutChip rollout={rollout} />
      <p className="component-why muted">
        {rollout.status === "pending" ? "waits for its turn" : (rollout.why?.text ?? "")}
      </p>
      <div className="component-progress">
        <ProgressBar counters={counters} />
        <span className="row-note numbers">
          {counters.succeeded} of {counters.total} upgraded{failed > 0 ? `, ${failed} failed` : ""}
        </span>
      </div>
    </article>
  );
});
