/** The selected node in words; without one, the nodes that need a person. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { attemptsOf } from "../../../core/upgrade/timeline.ts";
import type { NodeUpgradeView, RolloutView } from "../../../core/protocol/operator-api.ts";
import { nodeEventsInQuery } from "../../api/steer-queries.ts";
import { Chip } from "../../ui/chip.tsx";
import { Icon } from "../../ui/icon.tsx";
import { UpgradeSteps } from "../../ui/upgrade-steps.tsx";
import { NodeControls } from "./node-controls.tsx";
import { nodeLook } from "./node-look.ts";
import { UpgradeDetail } from "./upgrade-detail.tsx";

interface Props {
  readonly rollout: RolloutView;
  readonly nodes: readonly NodeUpgradeView[];
  readonly selectedId: string | null;
  readonly onSelect: (id: string | null) => void;
}

const ATTENTION_MAX = 50;

export function NodePanel({ rollout, nodes, selectedId, onSelect }: Props) {
  const selected = nodes.find((node) => node.node_id === selectedId);
  if (selected === undefined) return <Attention nodes={nodes} onSelect={onSelect} />;
  return (
    <section className="panel node-panel is-narrow" aria-labelledby="selected-heading">
      <div className="panel-head">
        <h2 id="selected-heading">{selected.node_name}</h2>
        <Chip look={nodeLook(selected)} />
        <button
          type="button"
          className="icon-button"
          aria-label="Close node details"
          onClick={() => onSelect(null)}
        >
          <Icon name="close" />
        </button>
      </div>
      <UpgradeDetail node={selected} />
      <Steps key={selected.node_id} node={selected} rolloutId={rollout.id} />
      <div className="panel-foot">
        <Link to="/nodes/$nodeId" params={{ nodeId: selected.node_id }}>
          Open node page
        </Link>
        <NodeControls key={selected.node_id} rollout={rollout} node={selected} />
      </div>
    </section>
  );
}

/** The newest attempt of this rollout, read again whenever the node moves on. */
function Steps({ node, rolloutId }: { readonly node: NodeUpgradeView; readonly rolloutId: string }) {
  const place = `${node.status}.${node.upgrade_phase}.${node.action_name}`;
  const { data } = useQuery(nodeEventsInQuery(rolloutId, node.node_id, place));
  // Keeps its place while it is read, so that what is below does not move when it comes.
  if (data === undefined) return node.started_at === null ? null : <div className="steps-place" />;
  const attempt = attemptsOf(data.events.toReversed())[0];
  if (attempt === undefined) return null;
  return <UpgradeSteps attempt={{ ...attempt, error: null }} />; // the error stands above it already
}

function Attention({ nodes, onSelect }: Pick<Props, "nodes" | "onSelect">) {
  const troubled = nodes.filter(({ status, error_code }) => error_code !== null && status !== "succeeded");
  return (
    <section className="panel attention-panel" aria-labelledby="attention-heading">
      <div className="panel-head">
        <h2 id="attention-heading">Needs attention</h2>
      </div>
      {troubled.length === 0 ? (
        <p className="panel-note muted">No node has failed. Select a node to see what it does.</p>
      ) : (
        <ul className="attention">
          {troubled.slice(0, ATTENTION_MAX).map((node) => (
            <li key={node.node_id}>
              <button type="button" onClick={() => onSelect(node.node_id)}>
                <span>{node.node_name}</span>
                <code>{node.error_code}</code>
              </button>
            </li>
          ))}
        </ul>
      )}
      {troubled.length > ATTENTION_MAX ? (
        <p className="panel-note muted">and {troubled.length - ATTENTION_MAX} more</p>
      ) : null}
    </section>
  );
}
