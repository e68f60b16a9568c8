/** Which nodes a rollout takes: those named, or all that are live, of the profile, type and labels, at the source version. */
import type { ProfileId } from "../../core/ids.ts";
import type { NodeView } from "../../core/protocol/operator-api.ts";
import type { RolloutChoice } from "../../core/rollout/create.ts";
import type { Api } from "../api.ts";
import { listNodes } from "../pages.ts";
import { pickNode } from "../resolve.ts";

const TAKES_PART: readonly NodeView["state"][] = ["active", "degraded"];

type Selector = Pick<RolloutChoice, "node_type" | "source_version" | "node_labels">;

export async function chooseNodes(
  api: Api,
  profile: ProfileId,
  selector: Selector,
  names: readonly string[],
): Promise<NodeView[]> {
  if (names.length > 0) return namedNodes(await listNodes(api), names);
  const nodes = await listNodes(api, {
    chain_profile_id: profile,
    node_type: selector.node_type,
    binary_version: selector.source_version,
  });
  const wanted = Object.entries(selector.node_labels);
  // None left is for the server to explain: it knows whether another rollout holds them.
  return nodes.filter(
    (node) =>
      node.enrolled &&
      node.revoked_at === null &&
      TAKES_PART.includes(node.state) &&
      wanted.every(([key, value]) => Object.hasOwn(node.labels, key) && node.labels[key] === value),
  );
}

/** A node named twice, by name and by id, is one node. */
function namedNodes(nodes: readonly NodeView[], names: readonly string[]): NodeView[] {
  const chosen = names.map((name) => pickNode(nodes, name));
  return [...new Map(chosen.map((node) => [node.id, node])).values()];
}
