/** Every node on a line; on a phone, on a card. Long lists are drawn in steps, so that a beat does not redraw thousands. */
import { useState } from "react";
import { Button } from "react-aria-components/Button";
import type { NodeView } from "../../../core/protocol/operator-api.ts";
import { Empty } from "../../ui/empty.tsx";
import { TableHead } from "../../ui/table-head.tsx";
import { NodeRow } from "./node-row.tsx";

const STEP = 100;
const COLUMNS = [
  "Node",
  "State",
  "Profile",
  "Type",
  "Version",
  "Health",
  "Sync",
  "Heartbeat",
  "Last rejection",
] as const;

export function NodeTable({ nodes }: { readonly nodes: readonly NodeView[] }) {
  const [limit, setLimit] = useState(STEP);
  if (nodes.length === 0) {
    return (
      <Empty title="No node matches the filter.">
        <p>Clear the filter to see them all.</p>
      </Empty>
    );
  }
  return (
    <>
      <table className="table cards-when-narrow" aria-labelledby="nodes-heading">
        <TableHead columns={COLUMNS} />
        <tbody>
          {nodes.slice(0, limit).map((node) => (
            <NodeRow key={node.id} node={node} />
          ))}
        </tbody>
      </table>
      {nodes.length > limit ? (
        <Button className="button more" onPress={() => setLimit(limit + STEP)}>
          Show {Math.min(STEP, nodes.length - limit)} more of {nodes.length}
        </Button>
      ) : null}
    </>
  );
}
