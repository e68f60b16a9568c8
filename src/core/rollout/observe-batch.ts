/**
 * Health of the current batch, observed once for all its nodes after the last of them is installed (ROLL-15), and of
 * each node that went back, against the version that it came from.
 */
import type { Draft, DraftNode } from "./draft.ts";
import { canBeJudged, judgeHealth, type HealthVerdict, type HealthWait } from "./health.ts";
import { incidentOfClosedIntent, incidentOfStall } from "./incidents.ts";
import { givenUpAt, healthDueAt, waitOf } from "./wake.ts";

export function observeBatch(draft: Draft, now: number): void {
  const { rollout } = draft;
  for (const node of draft.atWork()) failSilent(draft, node, now);
  if (isInstalled(draft) && !draft.isOpening(now)) rollout.healthUntil ??= Infinity;
  // A clock that was ahead has set the end too late: no wait is longer than itself.
  if (rollout.healthUntil !== null)
    rollout.healthUntil = Math.min(rollout.healthUntil, now + waitOf(rollout));
  let settled = 0;
  for (const node of draft.atWork().filter(({ phase }) => phase === "VERIFYING")) {
    const due = healthDueAt(rollout, node, now);
    if (due === null || now < due) continue;
    const wait = { startedAt: node.installedAt ?? now, due, availableSince: draft.availableSince };
    const isReady = canBeJudged(node.facts, wait, now);
    if (isReady && settled === draft.settlesPerStep) return draft.lookAgainAtOnce();
    if (settle(draft, node, wait, now)) settled += 1;
  }
}

/** Somebody is on the way forward, and nobody has yet to arrive. */
function isInstalled({ atWork, quiet }: Draft): boolean {
  const forward = atWork().filter(({ direction }) => direction === "forward");
  return (
    forward.length + quiet.verifying > 0 &&
    quiet.installing === 0 &&
    forward.every(({ phase }) => phase === "VERIFYING")
  );
}

function failSilent(draft: Draft, node: DraftNode, now: number): void {
  if (node.phase === "VERIFYING" || now < givenUpAt(node, draft.availableSince, now)) return;
  const status = node.direction === "reverse" ? "failed_rollback" : "failed";
  draft.change(
    node,
    { status, stands: "unknown" },
    { code: "TIMEOUT", text: "the node reported nothing within its deadline" },
  );
}

/** Tells whether there was a verdict. */
function settle(draft: Draft, node: DraftNode, wait: HealthWait, now: number): boolean {
  const isReverse = node.direction === "reverse";
  const expected = isReverse ? node.previous! : node.target;
  const verdict = judgeHealth(node.facts, wait, expected, now);
  if (verdict.kind === "waiting") return false;
  if (verdict.kind === "unhealthy") {
    const { heartbeatAt } = node.facts;
    const livesStill =
      verdict.code === "HEALTH_NODE_DOWN" && heartbeatAt !== null && heartbeatAt >= wait.startedAt;
    if (livesStill || verdict.code === "HEALTH_STALLED")
      draft.incidents.push(incidentOfStall(node, verdict.code, verdict.reason));
  }
  if (isReverse) settleReverse(draft, node, verdict);
  else settleForward(draft, node, verdict, now);
  return true;
}

type Judged = Exclude<HealthVerdict, { kind: "waiting" }>;

function settleForward(draft: Draft, node: DraftNode, verdict: Judged, now: number): void {
  if (verdict.kind === "healthy") return draft.change(node, { status: "succeeded", stands: "target" });
  const { code, reason: text } = verdict;
  node.errorCode = code;
  node.errorMessage = text;
  const canGoBack = draft.rollout.rollbackAllowed && node.previous !== null;
  // Its number is the one of the attempt that it takes back: no node runs the same attempt twice.
  if (canGoBack && draft.isIntentOpen(now)) return draft.launch(node, "reverse", node.attempt);
  draft.change(node, { status: "failed", stands: "target" }, { code, text });
  // The node would refuse to go back. Failed, it can be retried under a new intent; until then somebody must know.
  if (canGoBack) draft.incidents.push(incidentOfClosedIntent(draft.rollout, node));
}

/** After a failed health check the node counts as failed even though it is back on its feet. */
function settleReverse(draft: Draft, node: DraftNode, verdict: Judged): void {
  if (verdict.kind === "unhealthy") {
    const text = `the previous version is back, but: ${verdict.reason}`;
    return draft.change(
      node,
      { status: "failed_rollback", stands: "previous" },
      { code: verdict.code, text },
    );
  }
  if (draft.rollout.status === "rolling_back")
    return draft.change(node, { status: "rolled_back", stands: "previous" });
  const text = `${node.errorMessage ?? "unhealthy"}; the previous version is back`;
  return draft.change(
    node,
    { status: "failed", stands: "previous" },
    { code: node.errorCode ?? "HEALTH_CRITICAL", text },
  );
}
