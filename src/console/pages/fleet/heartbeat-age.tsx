import type { NodeView } from "../../../core/protocol/operator-api.ts";
import { Age } from "../../ui/age.tsx";
import { useNow } from "../../ui/use-now.ts";
import { contactNow } from "./node-facts.ts";

const WORDS = { never: "", current: "", late: " · late", lost: " · lost" } as const;

export function HeartbeatAge({ node }: { readonly node: NodeView }) {
  const contact = contactNow(node, useNow());
  // A revoked node is not expected to be heard from.
  const words = node.revoked_at === null ? WORDS[contact] : "";
  return (
    <span className="heartbeat" data-silent={words !== ""}>
      <Age at={node.last_heartbeat_at} />
      {words}
    </span>
  );
}
