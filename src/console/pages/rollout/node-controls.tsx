/** Signals about one node: try again, leave out, give up. */
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

type NodeSignal = "retry" | "skip" | "give_up";

export function NodeControls({ rollout, node }: Props) {
  const [asking, setAsking] = useState<NodeSignal | null>(null);
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
      <Button
        className="button"
        isDisabled={node.status !== "in_progress" || !isAllowed(rollout, "give_up")}
        onPress={() => setAsking("give_up")}
      >
        Give up
      </Button>
      <ReasonDialog
        question={asking === null ? null : nodeQuestion(asking, rollout, node)}
        onClose={() => setAsking(null)}
        onConfirm={(reason, key) => send(asking!, reason, key, node.node_id)}
      />
    </span>
  );
}

function nodeQuestion(asking: NodeSignal, rollout: RolloutView, { node_name }: NodeUpgradeView) {
  const question = questionFor(asking, rollout);
  if (asking === "give_up") {
    const effect =
      "The node counts as failed at once, and the rollout goes on without waiting for it. Should its verdict still come, it settles the node.";
    return { ...question, title: `Give ${node_name} up?`, effect, confirm: "Give node up" };
  }
  if (asking === "skip") return { ...question, title: `Leave ${node_name} out` };
  const effect = "The node is upgraded once more, in the turn of its batch. A paused rollout stays paused.";
  return { ...question, title: `Retry ${node_name}`, effect, confirm: "Retry node" };
}
