/** Which nodes a rollout takes: those named, or all that are live, of the profile, type and labels, at the source version. */
import type { ProfileId } from "../../core/ids.ts";
import type { NodeProfileView, NodeView } from "../../core/protocol/operator-api.ts";
import type { RolloutChoice } from "../../core/rollout/create.ts";
import type { Api } from "../api.ts";
import { listNodes } from "../pages.ts";
import { pickNode } from "../resolve.ts";

const TAKES_PART: readonly NodeProfileView["state"][] = ["active", "degraded"];

/** By the state of this program: another one on the node may be in maintenance. */
const takesPart = ({ state, profiles }: NodeView, profile: ProfileId): boolean =>
  state !== "down" &&
  profiles.some((each) => each.chain_profile_id === profile && TAKES_PART.includes(each.state));

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
      takesPart(node, profile) &&
      wanted.every(([key, value]) => Object.hasOwn(node.labels, key) && node.labels[key] === value),
  );
}

/** A node named twice, by name and by id, is one node. */
function namedNodes(nodes: readonly NodeView[], names: readonly string[]): NodeView[] {
  const chosen = names.map((name) => pickNode(nodes, name));
  return [...new Map(chosen.map((node) => [node.id, node])).values()];
}
