/**
 * The way back of a whole rollout (ROLL-14): nodes that stand on the target go back, batch by batch from the last to
 * the first. A node that fails on the way is an incident, and the rest goes on.
 */
import { isOnTarget, type Draft } from "./draft.ts";
import { intentUntrusted } from "./holds.ts";
import { incidentOfUntrustedIntent } from "./incidents.ts";

export function passReverseGate(draft: Draft, now: number): void {
  const { rollout } = draft;
  const next = nextOnTarget(draft);
  // Nobody else can be at work once it goes back: it began when all were done.
  const isOpening = rollout.status === "rolling_back" && next?.index === rollout.currentBatch;
  if (draft.isAnyAtWork() && !isOpening) return;
  if (rollout.rollbackRequested) {
    rollout.rollbackRequested = false;
    rollout.cancelRequested = false;
    draft.move("rollback", {
      code: "ROLLING_BACK",
      text: "rolled back as an operator asked; nodes not begun were skipped",
    });
  }
  if (rollout.status !== "rolling_back") return;
  if (next === null) return end(draft);
  const untrusted = intentUntrusted(draft);
  if (untrusted !== null) {
    if (rollout.why?.code !== untrusted.code) draft.incidents.push(incidentOfUntrustedIntent(untrusted));
    rollout.why = untrusted;
    return;
  }
  const isOver = rollout.intentNotAfter !== null && rollout.intentNotAfter <= now;
  if (isOver || rollout.intentCalledOff) {
    const what = isOver ? "the signed window is over" : "what was signed is called off";
    rollout.why = {
      code: "INTENT_EXPIRED",
      text: `${what}: sign a new intent, then ask for the rollback again`,
    };
    return;
  }
  draft.openBatch(next, "succeeded");
}

/** Counting what this very step has settled. */
function nextOnTarget({ nodes, lastOnTarget }: Draft): Draft["lastOnTarget"] {
  const settledNow = [...nodes.values()]
    .filter((node) => node.changed && isOnTarget(node))
    .map((node) => node.batchIndex);
  const index = Math.max(lastOnTarget?.index ?? -1, ...settledNow);
  if (index < 0) return null;
  const before = lastOnTarget?.index === index ? lastOnTarget.nodes : 0;
  return { index, nodes: before + settledNow.filter((batch) => batch === index).length };
}

function end(draft: Draft): void {
  const { rolled_back, failed_rollback, succeeded } = draft.counts;
  const { unsettled } = draft;
  const unknown = unsettled === 0 ? "" : `; ${unsettled} have not said what they run`;
  const kept =
    succeeded === 0
      ? ""
      : `; ${succeeded} were not rolled back: no previous version is recorded, or the node was revoked or adopted on another version`;
  const broken = failed_rollback === 0 ? "" : `; ${failed_rollback} need a person: see their incidents`;
  draft.move("end_rollback", {
    code: "ROLLED_BACK",
    text: `${rolled_back} nodes are back on their previous version${kept}${broken}${unknown}`,
  });
}
