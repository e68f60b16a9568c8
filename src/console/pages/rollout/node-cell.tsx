import { memo } from "react";
import type { NodeUpgradeView } from "../../../core/protocol/operator-api.ts";
import { Icon } from "../../ui/icon.tsx";
import { nodeLook } from "./node-look.ts";

interface Props {
  readonly node: NodeUpgradeView;
  readonly isSelected: boolean;
  readonly isTabStop: boolean;
  readonly onSelect: (id: string) => void;
}

export const NodeCell = memo(function NodeCell({ node, isSelected, isTabStop, onSelect }: Props) {
  const look = nodeLook(node);
  return (
    <td className="node-cell-place" aria-selected={isSelected}>
      <button
        type="button"
        className="node-cell"
        data-node={node.node_id}
        data-tone={look.tone}
        data-settled={node.status !== "pending" && node.status !== "in_progress"}
        tabIndex={isTabStop ? 0 : -1}
        aria-pressed={isSelected}
        title={`${node.node_name}: ${look.label}`}
        onClick={() => onSelect(node.node_id)}
      >
        <span className="cell-name">{node.node_name}</span>{" "}
        <span className="cell-status">
          <Icon name={look.icon} />
          <span className="cell-label">{look.label}</span>
        </span>
      </button>
    </td>
  );
});
