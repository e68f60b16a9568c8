import type { NodeView } from "../../../core/protocol/operator-api.ts";
import { Age } from "../../ui/age.tsx";
import { useNow } from "../../ui/use-now.ts";
import { isSilent } from "./node-facts.ts";

export function HeartbeatAge({ node }: { readonly node: NodeView }) {
  const silent = isSilent(node, useNow());
  return (
    <span className="heartbeat" data-silent={silent}>
      <Age at={node.last_heartbeat_at} />
      {silent ? " · late" : ""}
    </span>
  );
}
