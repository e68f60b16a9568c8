/** Health of the current batch, observed once for all its nodes after the last of them is installed (ROLL-15). */
import { givenUpAt, type Draft, type DraftNode } from "./draft.ts";
import { judgeHealth } from "./health.ts";

export function observeBatch(draft: Draft, now: number): void {
  const { rollout } = draft;
  const atWork = [...draft.nodes.values()].filter((node) => node.status === "in_progress");
  for (const node of atWork) failSilent(draft, node, now);
  const verifying = atWork.filter((node) => node.status === "in_progress" && node.phase === "VERIFYING");
  const installing = atWork.filter((node) => node.status === "in_progress" && node.phase !== "VERIFYING");
  if (verifying.length === 0) return;
  if (rollout.healthUntil === null) {
    if (installing.length > 0) return;
    rollout.healthUntil = now + rollout.healthWaitMs;
  }
  if (now < rollout.healthUntil) return;
  for (const node of verifying) settle(draft, node, now, rollout.healthUntil);
}

function failSilent(draft: Draft, node: DraftNode, now: number): void {
  if (node.phase === "VERIFYING" || now < givenUpAt(node, now)) return;
  const status = node.direction === "reverse" ? "failed_rollback" : "failed";
  draft.change(
    node,
    { status, stands: "unknown" },
    { code: "TIMEOUT", text: "the node reported nothing within its deadline" },
  );
}

function settle(draft: Draft, node: DraftNode, now: number, due: number): void {
  const verdict = judgeHealth(node.facts, node.installedAt ?? now, node.target, now, due);
  if (verdict.kind === "waiting") return;
  if (verdict.kind === "healthy") return draft.change(node, { status: "succeeded", stands: "target" });
  node.errorCode = verdict.code;
  node.errorMessage = verdict.reason;
  if (draft.rollout.rollbackAllowed && node.previous !== null) return draft.launch(node, "reverse", 1);
  return draft.change(
    node,
    { status: "failed", stands: "target" },
    { code: verdict.code, text: verdict.reason },
  );
}
