import type { RolloutView } from "../../../core/protocol/operator-api.ts";
import { untilText } from "../../ui/time-text.ts";
import { useNow } from "../../ui/use-now.ts";
import { BATCH_LOOKS, settledCount, type Batch } from "./batches.ts";

interface Props {
  readonly batch: Batch;
  readonly rollout: RolloutView;
}

export function BatchHead({ batch, rollout }: Props) {
  const { tone, label } = BATCH_LOOKS[batch.state];
  const failed = batch.counts.failed + batch.counts.failed_rollback;
  return (
    <td className="batch-head">
      <h3>
        Batch {batch.index + 1} <span className="muted">of {rollout.batch_count}</span>
      </h3>
      <span className="batch-state" data-tone={tone}>
        {label}
        {batch.state === "observing" && rollout.health_until !== null ? (
          <Countdown until={rollout.health_until} />
        ) : null}
      </span>
      <span className="batch-count numbers">
        {settledCount(batch.counts)} of {batch.nodes.length} settled{failed > 0 ? `, ${failed} failed` : ""}
      </span>
    </td>
  );
}

/** Ticks alone: the grid around it is not drawn again each second. */
function Countdown({ until }: { readonly until: string }) {
  const left = untilText(until, useNow());
  return <span className="numbers">{left === null ? ", judging" : `, ${left} left`}</span>;
}
