/** What stands between a canary and the rest, in words: who runs it, how they are, how long, what is still open. */
import type { NodeUpgradeView, NodeView, RolloutView } from "../../../core/protocol/operator-api.ts";
import { isActive, isSettled } from "../../../core/rollout/states.ts";
import { healthOf } from "../fleet/node-facts.ts";
import { durationText, untilText } from "../../ui/time-text.ts";

export type GateState =
  | "ahead"
  | "upgrading"
  | "observing"
  | "waiting"
  | "failed"
  | "approved"
  | "passed"
  | "over";

export const canaryNodes = (nodes: readonly NodeUpgradeView[]): readonly NodeUpgradeView[] =>
  nodes.filter((node) => node.batch_index === 0);

export const needsApproval = ({ strategy, migration_type }: RolloutView): boolean =>
  strategy === "canary" && migration_type === "breaking";

export function gateState(rollout: RolloutView): GateState {
  if (rollout.canary_approved_at !== null) return "approved";
  if (rollout.why?.code === "CANARY_APPROVAL") return "waiting";
  if (rollout.why?.code === "CANARY_FAILED") return "failed";
  if (!isActive(rollout.status) || rollout.status === "rolling_back") return "over";
  if (rollout.current_batch < 0) return "ahead";
  if (rollout.current_batch > 0) return "passed";
  return rollout.health_until === null ? "upgrading" : "observing";
}

/** How long the canary has been looked at: until its judgement, and from then on as it runs. */
export function observedText(canary: readonly NodeUpgradeView[], now: number): string {
  const ends = canary.flatMap((node) => (node.ended_at === null ? [] : [Date.parse(node.ended_at)]));
  if (canary.length === 0 || ends.length < canary.length) return "not judged yet";
  return `judged ${durationText(now - Math.max(...ends))} ago`;
}

/** What an approver should know to be missing. Empty: nothing but the approval itself. */
export function openPoints(
  rollout: RolloutView,
  canary: readonly NodeUpgradeView[],
  live: readonly (NodeView | undefined)[],
  now: number,
): readonly string[] {
  const unsettled = canary.filter((node) => !isSettled(node.status)).length;
  const failed = canary.filter(({ status }) => status === "failed" || status === "failed_rollback").length;
  const unwell = live.flatMap((node) => (node === undefined || isWell(node, now) ? [] : [node.name]));
  const left = rollout.intent === null ? "" : untilText(rollout.intent.not_after, now);
  return [
    ...(unsettled === 0 ? [] : [`${count(unsettled, "canary node")} not judged yet`]),
    ...(failed === 0 ? [] : [`${count(failed, "canary node")} failed`]),
    ...(unwell.length === 0 ? [] : [`not known to be healthy now: ${unwell.join(", ")}`]),
    ...(left === null
      ? ["the signed window is over: approve with `fairlead rollout approve-canary --manifest`"]
      : []),
  ];
}

export const count = (many: number, one: string, several = `${one}s`): string =>
  `${many} ${many === 1 ? one : several}`;

function isWell(node: NodeView, now: number): boolean {
  const health = healthOf(node, now);
  return (
    (node.state === "active" || node.state === "maintenance") && (health === "ok" || health === "degraded")
  );
}
