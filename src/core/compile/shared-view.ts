/**
 * Nodes with the same view have the same content: it is compiled, checked and kept once for all of them.
 * Null where the content is about the node itself.
 */
import type { CompiledScope } from "../snapshot/roles.ts";
import type { NodeState } from "./rows.ts";
import { compare } from "./sorted.ts";

/** Compiled from the cluster's rows and the node's roles, organizations and revocations alone. */
const SHARED: ReadonlySet<CompiledScope> = new Set([
  "peer_directory",
  "route_policy",
  "qos_policy",
  "storage_directory",
  "degraded_mode_policy",
]);

export function viewOf({ node, revoked, services }: NodeState, scope: CompiledScope): string | null {
  const shared = SHARED.has(scope) || (scope === "node_runtime" && services.length === 0);
  if (!shared) return null;
  const withdrawn = revoked.map(({ kind, id }) => `${kind}:${id}`);
  return [
    scope,
    ...[node.roles, node.organizationIds, withdrawn].map((list) => list.toSorted(compare).join(",")),
  ].join("|");
}
