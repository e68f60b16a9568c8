/** Signals about single nodes: `retry` of what failed, `skip` of what has not begun. */
import type { Draft, DraftNode } from "./draft.ts";
import type { SignalRow } from "./rows.ts";

/**
 * Launched again at once, forward, as the next attempt. The node joins the current batch, so that the gate after it
 * waits for the node. One in `failed_rollback` is left to a person.
 */
export function applyRetry(draft: Draft, { nodeId }: SignalRow): boolean {
  const failed = chosen(draft, nodeId).filter((node) => node.status === "failed");
  for (const node of failed) {
    node.batchIndex = draft.rollout.currentBatch;
    node.errorCode = null;
    node.errorMessage = null;
    draft.launch(node, "forward", node.attempt + 1);
  }
  // The batch is observed again when the last of them is installed.
  if (failed.length > 0) draft.rollout.healthUntil = null;
  return failed.length > 0;
}

export function applySkip(draft: Draft, { nodeId }: SignalRow): boolean {
  const node = nodeId === null ? undefined : draft.nodes.get(nodeId);
  if (node?.status !== "pending") return false;
  draft.change(node, { status: "skipped", stands: "untouched" });
  return true;
}

function chosen(draft: Draft, nodeId: SignalRow["nodeId"]): DraftNode[] {
  if (nodeId === null) return [...draft.nodes.values()];
  const node = draft.nodes.get(nodeId);
  return node === undefined ? [] : [node];
}
