import type { RolloutView } from "../../../core/protocol/operator-api.ts";
import { NODE_UPGRADE_STATUSES } from "../../../core/rollout/states.ts";
import type { RolloutNodes } from "../../api/queries.ts";
import { Icon } from "../../ui/icon.tsx";
import { ProgressBar } from "../../ui/progress-bar.tsx";
import { UPGRADE_LOOKS } from "../../ui/tones.ts";
import { countStatuses } from "./batches.ts";

interface Props {
  readonly rollout: RolloutView;
  readonly nodes: RolloutNodes | undefined;
}

export function RolloutProgress({ rollout, nodes }: Props) {
  const counters = countersOf(rollout, nodes);
  return (
    <section className="rollout-progress" aria-label="Progress">
      <ProgressBar counters={counters} />
      <dl className="counters">
        {NODE_UPGRADE_STATUSES.map((status) => {
          const { tone, icon, label } = UPGRADE_LOOKS[status];
          return (
            <div key={status} data-tone={counters[status] === 0 ? "none" : tone}>
              <dt>
                <Icon name={icon} />
                {label}
              </dt>
              <dd className="numbers">{counters[status]}</dd>
            </div>
          );
        })}
      </dl>
    </section>
  );
}

/** Counted from the cells when all are there, so that the two never disagree on the page. */
function countersOf({ counters }: RolloutView, nodes: RolloutNodes | undefined): RolloutView["counters"] {
  if (nodes === undefined || nodes.items.length !== counters.total) return counters;
  return { total: counters.total, ...countStatuses(nodes.items) };
}
