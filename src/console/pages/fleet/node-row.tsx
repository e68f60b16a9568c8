import { Link } from "@tanstack/react-router";
import { memo } from "react";
import type { NodeView } from "../../../core/protocol/operator-api.ts";
import { Chip } from "../../ui/chip.tsx";
import { HealthChip, SyncChip } from "./claim-chip.tsx";
import { HeartbeatAge } from "./heartbeat-age.tsx";
import { profilesOf, STANDING_LOOKS, standingOf, versionsOf } from "./node-facts.ts";

/** Unchanged nodes keep their identity across reads, so only what changed is drawn. */
export const NodeRow = memo(function NodeRow({ node }: { readonly node: NodeView }) {
  return (
    <tr>
      <th scope="row">
        <Link to="/nodes/$nodeId" params={{ nodeId: node.id }}>
          {node.name}
        </Link>
      </th>
      <td data-label="State">
        <Chip look={STANDING_LOOKS[standingOf(node)]} />
      </td>
      <td data-label="Profile">{profilesOf(node).join(", ")}</td>
      <td data-label="Type">{node.node_type}</td>
      <td data-label="Version" className="numbers">
        {node.profiles.some(({ binary_version }) => binary_version !== null) ? (
          versionsOf(node).join(", ")
        ) : (
          <span className="muted">unknown</span>
        )}
      </td>
      <td data-label="Health">
        <HealthChip node={node} />
      </td>
      <td data-label="Sync">
        <SyncChip node={node} />
      </td>
      <td data-label="Heartbeat">
        <HeartbeatAge node={node} />
      </td>
      <td data-label="Rejection">
        {node.last_rejection === null ? (
          <span className="muted">none</span>
        ) : (
          <code title={node.last_rejection.reason}>{node.last_rejection.code}</code>
        )}
      </td>
    </tr>
  );
});
