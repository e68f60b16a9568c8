/** The gate after a canary, and beside it the button that opens it. Of a canary only; there it stands from the start. */
import { useQueries } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { Button } from "react-aria-components/Button";
import type { NodeUpgradeView, NodeView, RolloutView } from "../../../core/protocol/operator-api.ts";
import { nodeQuery } from "../../api/queries.ts";
import { Chip } from "../../ui/chip.tsx";
import { ReasonDialog } from "../../ui/reason-dialog.tsx";
import { dateTimeText, untilText } from "../../ui/time-text.ts";
import type { Look } from "../../ui/tones.ts";
import { useNow } from "../../ui/use-now.ts";
import { healthLook, healthOf, syncLook, syncOf, withProgramOf } from "../fleet/node-facts.ts";
import {
  canaryNodes,
  count,
  gateState,
  needsApproval,
  observedText,
  openPoints,
  type GateState,
} from "./canary-gate.ts";
import { isAllowed, questionFor } from "./controls.ts";
import { nodeLook } from "./node-look.ts";
import { useSignal } from "./use-signal.ts";
import "./canary-panel.css";

/** The health of so many is read beside the rollout; a canary is small. */
const LIVE_NODES_MAX = 8;

const LOOKS: Record<GateState, Look> = {
  ahead: { tone: "neutral", icon: "circle", label: "Not begun" },
  upgrading: { tone: "info", icon: "progress", label: "Upgrading" },
  observing: { tone: "info", icon: "eye", label: "Observing" },
  waiting: { tone: "warn", icon: "pause", label: "Waits for approval" },
  failed: { tone: "bad", icon: "cross", label: "Failed" },
  approved: { tone: "good", icon: "check", label: "Approved" },
  passed: { tone: "good", icon: "check", label: "Passed" },
  over: { tone: "neutral", icon: "dash", label: "Over" },
};

interface Props {
  readonly rollout: RolloutView;
  readonly nodes: readonly NodeUpgradeView[];
}

export function CanaryPanel({ rollout, nodes }: Props) {
  const canary = canaryNodes(nodes);
  const live = useQueries({
    queries: canary.slice(0, LIVE_NODES_MAX).map((node) => nodeQuery(node.node_id)),
  });
  const liveNodes = live.map(({ data }) => data);
  const now = useNow();
  const state = gateState(rollout);
  return (
    <section className="panel canary-panel" aria-labelledby="canary-heading">
      <div className="panel-head">
        <h2 id="canary-heading">Canary gate</h2>
        <Chip look={LOOKS[state]} />
        {needsApproval(rollout) ? <Approve rollout={rollout} /> : null}
      </div>
      <div className="canary-body">
        <ul className="canary-nodes" aria-label="Canary nodes">
          {canary.slice(0, LIVE_NODES_MAX).map((node, at) => (
            <CanaryNode
              key={node.node_id}
              node={node}
              live={liveNodes[at]}
              profile={rollout.chain_profile_id}
              now={now}
            />
          ))}
          {canary.length > LIVE_NODES_MAX ? (
            <li className="muted">and {canary.length - LIVE_NODES_MAX} more</li>
          ) : null}
        </ul>
        <dl className="facts">
          <div>
            <dt>Observed</dt>
            <dd className="numbers">{observed(rollout, state, canary, now)}</dd>
          </div>
          <div>
            <dt>Still open</dt>
            <dd>{openText(rollout, state, openPoints(rollout, canary, liveNodes, now))}</dd>
          </div>
          <div>
            <dt>Behind it</dt>
            <dd className="numbers">
              {count(rollout.counters.pending, "node")} in{" "}
              {count(Math.max(0, rollout.batch_count - 1), "batch", "batches")}
            </dd>
          </div>
        </dl>
      </div>
    </section>
  );
}

function Approve({ rollout }: { readonly rollout: RolloutView }) {
  const [isAsking, ask] = useState(false);
  const send = useSignal(rollout.id);
  return (
    <>
      <Button
        className="button"
        data-kind="primary"
        isDisabled={!isAllowed(rollout, "approve_canary")}
        onPress={() => ask(true)}
      >
        Approve canary
      </Button>
      <ReasonDialog
        question={isAsking ? questionFor("approve_canary", rollout) : null}
        onClose={() => ask(false)}
        onConfirm={(reason, key) => send("approve_canary", reason, key)}
      />
    </>
  );
}

interface CanaryNodeProps {
  readonly node: NodeUpgradeView;
  readonly live: NodeView | undefined;
  readonly profile: string;
  readonly now: number;
}

function CanaryNode({ node, live, profile, now }: CanaryNodeProps) {
  const own = live === undefined ? undefined : withProgramOf(live, profile);
  const program = own?.programs[0];
  const health = own === undefined ? "unknown" : healthOf(own, now);
  const sync = own === undefined ? "unknown" : syncOf(own, now);
  return (
    <li>
      <Link to="/nodes/$nodeId" params={{ nodeId: node.node_id }}>
        {node.node_name}
      </Link>
      <Chip look={nodeLook(node)} />
      <Chip {...healthLook(health, program, now)} />
      <Chip {...syncLook(sync, program, now)} />
    </li>
  );
}

function observed(
  rollout: RolloutView,
  state: GateState,
  canary: readonly NodeUpgradeView[],
  now: number,
): string {
  if (state !== "observing") return state === "ahead" ? "not yet" : observedText(canary, now);
  const left = untilText(rollout.health_until!, now);
  return left === null ? "being judged" : `for another ${left}, twice as long as other batches`;
}

function openText(rollout: RolloutView, state: GateState, points: readonly string[]): string {
  const { canary_approved_by: who, canary_approved_at: at } = rollout;
  if (state === "approved")
    return `nothing: approved by ${who ?? "somebody"}, ${at === null ? "" : dateTimeText(at)}`;
  if (state === "passed" || state === "over") return "nothing";
  const approval = needsApproval(rollout) ? ["an approval with a reason"] : [];
  const all = [...points, ...approval];
  return all.length === 0 ? "nothing but the health wait" : all.join("; ");
}
