/** Where the node's signed bootstrap says that the control plane answers. */
import { NodeBootstrapContent } from "../../core/snapshot/contents.ts";
import type { SnapshotStore } from "../snapshots/store.ts";

export function namedReplicas(snapshots: Pick<SnapshotStore, "content">): readonly string[] {
  const content = NodeBootstrapContent.safeParse(snapshots.content("node_bootstrap"));
  return content.success ? (content.data.refresh_endpoints ?? []) : [];
}
