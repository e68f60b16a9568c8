/** Nodes that want a look, worst first, and the rest by name. */
import { SNAPSHOT_STATES } from "../../../core/model/snapshot-state.ts";
import type { NodeAuthority } from "../../../core/protocol/snapshot-api.ts";

const badness = ({ attention }: NodeAuthority): number =>
  attention[0] === undefined ? SNAPSHOT_STATES.length : SNAPSHOT_STATES.indexOf(attention[0].state);

export function summaryOf(nodes: readonly NodeAuthority[]) {
  const attention = nodes
    .filter((node) => node.attention.length > 0)
    .toSorted((a, b) => badness(a) - badness(b) || a.node_name.localeCompare(b.node_name));
  return { attention, calm: nodes.filter((node) => node.attention.length === 0) };
}
