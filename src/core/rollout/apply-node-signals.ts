/** Signals about single nodes: `retry` of what failed, `skip` of what has not begun. */
import type { Draft } from "./draft.ts";
import type { SignalRow } from "./rows.ts";
import { noteRetry } from "./retry-gate.ts";

/**
 * Failed nodes wait for another attempt, which goes through the batches, limits and gates of the first. One in
 * `failed_rollback` is left to a person.
 */
export function applyRetry(draft: Draft, { nodeId }: SignalRow): boolean {
  const node = nodeId === null ? "all" : draft.nodes.get(nodeId);
  if (node === undefined || !draft.requestRetry(node)) return false;
  noteRetry(draft);
  return true;
}

export function applySkip(draft: Draft, { nodeId }: SignalRow): boolean {
  const node = nodeId === null ? undefined : draft.nodes.get(nodeId);
  if (node?.status !== "pending") return false;
  draft.change(node, { status: "skipped", stands: "untouched" });
  return true;
}
