/**
 * What an intent says of each node: its config files by digest, rendered here from the operator's own templates.
 * Names, types and labels of nodes are the server's word; they fill a template's gaps and can be nothing more than text.
 */
import type { NodeId } from "../../core/ids.ts";
import type { IntentLeaf } from "../../core/protocol/intent.ts";
import type { NodeView } from "../../core/protocol/operator-api.ts";
import type { ConfigPlan } from "../../render/configs.ts";
import { openConfigBook } from "../../render/node-configs.ts";
import { configSeal } from "../../trust/config-secrets.ts";

type KnownNode = Pick<NodeView, "id" | "name" | "node_type" | "labels">;

export function leavesFor(plan: ConfigPlan, nodes: readonly KnownNode[]): IntentLeaf[] {
  const book = openConfigBook(plan, configSeal);
  return nodes.map(({ id, name, node_type: type, labels }) => ({
    node_id: id,
    configs: book.of({ id, name, type, labels }).all,
  }));
}

/** For nodes of which only the id is known, as long as no file is a node's own. */
export const sharedLeaves = (plan: ConfigPlan, nodeIds: readonly NodeId[]): IntentLeaf[] => {
  const { shared } = openConfigBook(plan, configSeal);
  return nodeIds.map((node_id) => ({ node_id, configs: [...shared] }));
};
