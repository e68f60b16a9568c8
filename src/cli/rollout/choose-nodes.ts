/** Which nodes a rollout takes: those named, or all that are live, of the profile and type, at the source version. */
import type { ProfileId } from "../../core/ids.ts";
import type { NodeView } from "../../core/protocol/operator-api.ts";
import type { Api } from "../api.ts";
import { listNodes } from "../pages.ts";
import { pickNode } from "../resolve.ts";
import type { CreateOptions } from "./options.ts";

const TAKES_PART: readonly NodeView["state"][] = ["active", "degraded"];

export async function chooseNodes(api: Api, profile: ProfileId, options: CreateOptions): Promise<NodeView[]> {
  if (options.node.length > 0) return namedNodes(await listNodes(api), options.node);
  const nodes = await listNodes(api, {
    chain_profile_id: profile,
    node_type: options.type,
    binary_version: options.sourceVersion,
  });
  // None left is for the server to explain: it knows whether another rollout holds them.
  return nodes.filter((node) => node.enrolled && node.revoked_at === null && TAKES_PART.includes(node.state));
}

/** A node named twice, by name and by id, is one node. */
function namedNodes(nodes: readonly NodeView[], names: readonly string[]): NodeView[] {
  const chosen = names.map((name) => pickNode(nodes, name));
  return [...new Map(chosen.map((node) => [node.id, node])).values()];
}
