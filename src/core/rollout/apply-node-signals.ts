/** Signals about single nodes: `retry` of what failed, `skip` of what has not begun, `give_up` of what does not answer. */
import type { Draft, DraftNode } from "./draft.ts";
import { incidentOfGivenUp } from "./incidents.ts";
import { noteRetry } from "./retry-gate.ts";
import type { SignalRow, Why } from "./rows.ts";
import { DRIVE_ACTOR } from "./silence.ts";
import { afterReconnect } from "./wake.ts";

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

/**
 * Without a node: every silent one. A node at work fails, and its verdict settles it when it comes after all (ROLL-29).
 * One that was revoked ends whether it has begun or not: no command is signed for it any more.
 */
export function applyGiveUp(draft: Draft, signal: SignalRow, now: number): boolean {
  const named = signal.nodeId === null ? undefined : draft.nodes.get(signal.nodeId);
  const nodes =
    signal.nodeId === null ? draft.atWork().filter(({ silentSince }) => silentSince !== null) : [named];
  return (
    nodes.filter(
      (node) =>
        node !== undefined &&
        !isTooEarly(draft, node, signal, now) &&
        endNode(draft, node, whyOf(node, signal)),
    ).length > 0
  );
}

/** A give-up by the watch over silence, stored before an absence of the control plane: the agent gets the time to reconnect. */
const isTooEarly = (draft: Draft, { isRevoked }: DraftNode, { actor }: SignalRow, now: number): boolean =>
  actor === DRIVE_ACTOR && !isRevoked && now < afterReconnect(now, draft.availableSince);

function endNode(draft: Draft, node: DraftNode, why: Why): boolean {
  if (node.status === "in_progress" && !draft.hasAnswered(node)) {
    const isInstalled = node.phase === "VERIFYING";
    const isBack = node.direction === "reverse";
    const stands = isInstalled ? (isBack ? "previous" : "target") : "unknown";
    draft.change(node, { status: isBack ? "failed_rollback" : "failed", stands }, why);
    if (stands === "target") draft.incidents.push(incidentOfGivenUp(draft.rollout, node));
    return true;
  }
  if (!node.isRevoked) return false;
  if (node.status === "pending") draft.change(node, { status: "skipped", stands: "untouched" }, why);
  else if (node.retryRequested) draft.dropRetry(node, why);
  else return false;
  return true;
}

function whyOf({ isRevoked }: DraftNode, { actor, reason }: SignalRow): Why {
  const because = reason === null ? "" : `: ${reason}`;
  if (isRevoked) return { code: "NODE_REVOKED", text: `the node was revoked${because}` };
  return actor === DRIVE_ACTOR
    ? { code: "NODE_SILENT", text: `given up${because}` }
    : { code: "GIVEN_UP", text: `${actor} gave it up${because}` };
}
