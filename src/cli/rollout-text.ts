/** A rollout and its nodes, for people. */
import type { NodeUpgradeView, RolloutView } from "../core/protocol/operator-api.ts";
import { ageOf, durationText } from "./duration.ts";
import { fields, table } from "./output.ts";
import { nextStep } from "./watch/next-step.ts";

export function rolloutTable(rollouts: readonly RolloutView[], now: number): string {
  if (rollouts.length === 0) return "";
  return table(
    ["ID", "PROFILE", "VERSIONS", "STATUS", "DONE", "FAILED", "CREATED", "WHY"],
    rollouts.map((rollout) => [
      rollout.id.slice(0, 8),
      rollout.chain_profile_id,
      `${rollout.source_version} → ${rollout.target_version}`,
      rollout.status,
      `${rollout.counters.succeeded}/${rollout.counters.total}`,
      String(rollout.counters.failed + rollout.counters.failed_rollback),
      `${ageOf(rollout.created_at, now)} ago`,
      rollout.why?.code ?? "",
    ]),
  );
}

export function rolloutText(rollout: RolloutView): string {
  const { total, ...byStatus } = rollout.counters;
  const counts = Object.entries(byStatus).filter(([, count]) => count > 0);
  const batch = Math.max(rollout.current_batch + 1, 0);
  return fields([
    ["rollout", rollout.id],
    ["status", statusText(rollout)],
    ["why", rollout.why === null ? null : `${rollout.why.code}: ${rollout.why.text}`],
    ["next", nextStep(rollout)],
    ["group", groupOf(rollout)],
    ["profile", `${rollout.chain_profile_id}, type ${rollout.node_type}${labelsOf(rollout.node_labels)}`],
    [
      "versions",
      `${rollout.source_version} → ${rollout.target_version} (${rollout.binary_name}, ${rollout.runtime})`,
    ],
    ["artifact", `${rollout.target_binary_url} ${rollout.target_binary_checksum}`],
    ["manifest", `${rollout.upgrade_id ?? "typed"} ${rollout.manifest_content_hash}`],
    ["nodes", `${total}: ${counts.map(([status, count]) => `${count} ${status}`).join(", ")}`],
    [
      "batches",
      `${batch} of ${rollout.batch_count}, up to ${rollout.batch_size} nodes each (${rollout.strategy})`,
    ],
    ["canary", canaryText(rollout)],
    ["gates", gatesText(rollout)],
    [
      "rollback",
      `tier ${rollout.rollback_tier} (${rollout.migration_type} migration)${rollout.rollback_allowed ? "" : ", not allowed by the intent"}`,
    ],
    ["intent", intentText(rollout)],
    ["created", `${rollout.created_at} by ${rollout.created_by}`],
    ["started", rollout.started_at],
    ["ended", rollout.ended_at === null ? null : `${rollout.ended_at}${tookText(rollout)}`],
  ]);
}

const intentText = ({ intent }: RolloutView): string => {
  if (intent === null) return "none";
  return `${intent.digest} ${intent.voided ? "called off" : `until ${intent.not_after}`}`;
};

const groupOf = ({ group_id, component_index }: RolloutView): string | null =>
  group_id === null ? null : `${group_id}, component ${(component_index ?? 0) + 1}`;

function labelsOf(labels: Readonly<Record<string, string>>): string {
  const words = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return words.length === 0 ? "" : `, with ${words.join(" ")}`;
}

function canaryText({
  strategy,
  canary_size,
  canary_approved_by,
  canary_approved_at,
}: RolloutView): string | null {
  if (strategy !== "canary") return null;
  const approved =
    canary_approved_by === null ? "" : `, approved by ${canary_approved_by} at ${canary_approved_at ?? "?"}`;
  return `${canary_size} at random${approved}`;
}

function gatesText(rollout: RolloutView): string {
  const health = rollout.skip_validation ? "no health wait" : `health ${rollout.health_wait_seconds} s`;
  const failed = rollout.force_continue
    ? "failures do not pause it"
    : `pause above ${rollout.failure_threshold} failed`;
  const { max_unavailable: limit } = rollout;
  const away = limit === null ? "" : `, at most ${limit.count} away per ${limit.label}`;
  return `${health}, ${failed}${away}`;
}

export function statusText(rollout: RolloutView): string {
  const { status, pause_requested, cancel_requested, rollback_requested } = rollout;
  if (status !== "running") return status;
  if (rollback_requested) return "running, goes back soon";
  if (cancel_requested) return "running, ends after this batch";
  return pause_requested ? "running, pauses after this batch" : "running";
}

export const upgradeTable = (nodes: readonly NodeUpgradeView[]): string =>
  table(
    ["BATCH", "NODE", "STATUS", "PHASE", "ACTION", "TRY", "FROM", "TOOK", "ERROR"],
    nodes.map((node) => [
      String(node.batch_index + 1),
      node.node_name,
      nodeStatusText(node),
      node.upgrade_phase ?? "",
      node.waiting_for === null ? (node.action_name ?? "") : `waiting for ${node.waiting_for}`,
      node.attempt_count === 0 ? "" : `${node.direction} ${node.attempt_count}`,
      node.previous_version ?? "",
      spanText(node.started_at, node.ended_at),
      node.error_code === null ? "" : `${node.error_code}: ${node.error_message ?? ""}`,
    ]),
  );

function nodeStatusText({ status, retry_requested, silent_since }: NodeUpgradeView): string {
  if (retry_requested) return `${status}, waits for its retry`;
  return silent_since === null ? status : `${status}, silent`;
}

const spanText = (from: string | null, to: string | null): string =>
  from === null || to === null ? "" : durationText(Date.parse(to) - Date.parse(from));

function tookText(rollout: RolloutView): string {
  const took = spanText(rollout.started_at, rollout.ended_at);
  return took === "" ? "" : `, after ${took}`;
}
