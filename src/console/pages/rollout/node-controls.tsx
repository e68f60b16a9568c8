/** What may be asked about one node: to try again, or to be left out. */
import { useState } from "react";
import { Button } from "react-aria-components/Button";
import type { NodeUpgradeView, RolloutView } from "../../../core/protocol/operator-api.ts";
import { ReasonDialog } from "../../ui/reason-dialog.tsx";
import { isAllowed, questionFor } from "./controls.ts";
import { useSignal } from "./use-signal.ts";

interface Props {
  readonly rollout: RolloutView;
  readonly node: NodeUpgradeView;
}

export function NodeControls({ rollout, node }: Props) {
  const [asking, setAsking] = useState<"retry" | "skip" | null>(null);
  const send = useSignal(rollout.id);
  return (
    <span className="node-controls">
      <Button
        className="button"
        isDisabled={node.status !== "failed" || node.retry_requested || !isAllowed(rollout, "retry")}
        onPress={() => setAsking("retry")}
      >
        Retry
      </Button>
      <Button
        className="button"
        isDisabled={node.status !== "pending" || !isAllowed(rollout, "skip")}
        onPress={() => setAsking("skip")}
      >
        Leave out
      </Button>
      <ReasonDialog
        question={asking === null ? null : nodeQuestion(asking, rollout, node)}
        onClose={() => setAsking(null)}
        onConfirm={(reason, key) => send(asking!, reason, key, node.node_id)}
      />
    </span>
  );
}

function nodeQuestion(asking: "retry" | "skip", rollout: RolloutView, { node_name }: NodeUpgradeView) {
  const question = questionFor(asking, rollout);
  if (asking === "skip") return { ...question, title: `Leave ${node_name} out` };
  const effect = "The node is upgraded once more, in the turn of its batch. A paused rollout stays paused.";
  return { ...question, title: `Retry ${node_name}`, effect, confirm: "Retry node" };
}
