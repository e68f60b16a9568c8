/** The grid as text: a row per batch, written only when somebody opens it. */
import { useState } from "react";
import type { RolloutView } from "../../../../core/protocol/operator-api.ts";
import { NODE_UPGRADE_STATUSES } from "../../../../core/rollout/states.ts";
import { TableHead } from "../../../ui/table-head.tsx";
import { UPGRADE_LOOKS } from "../../../ui/tones.ts";
import { BATCH_LOOKS, type Batch } from "../batches.ts";

interface Props {
  readonly batches: readonly Batch[];
  readonly rollout: Pick<RolloutView, "batch_count">;
}

const COLUMNS = ["Batch", "State", "Nodes"] as const;
/** Long lists end: the CLI shows them whole. */
const SHOWN_MAX = 200;

export function BatchText({ batches, rollout }: Props) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className="batch-text" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>The same as text</summary>
      {isOpen ? (
        <table className="table" aria-label="Batches as text">
          <TableHead columns={COLUMNS} />
          <tbody>
            {batches.slice(0, SHOWN_MAX).map((batch) => (
              <tr key={batch.index}>
                <th scope="row" className="numbers">
                  {batch.index + 1} of {rollout.batch_count}
                </th>
                <td>{BATCH_LOOKS[batch.state].label}</td>
                <td className="numbers">{countsText(batch)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      ) : null}
      {isOpen && batches.length > SHOWN_MAX ? (
        <p className="panel-note muted">
          {batches.length - SHOWN_MAX} more: <code>fairlead rollout nodes</code>
        </p>
      ) : null}
    </details>
  );
}

const countsText = ({ counts }: Batch): string =>
  NODE_UPGRADE_STATUSES.filter((status) => counts[status] > 0)
    .map((status) => `${counts[status]} ${UPGRADE_LOOKS[status].label.toLowerCase()}`)
    .join(", ");
