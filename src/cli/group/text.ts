/** A group and its components, for people. */
import type { GroupView } from "../../core/protocol/group-api.ts";
import { ageOf, durationText } from "../duration.ts";
import { fields, table } from "../output.ts";
import { statusText } from "../rollout-text.ts";

export function groupTable(groups: readonly GroupView[], now: number): string {
  if (groups.length === 0) return "";
  return table(
    ["ID", "PROFILE", "POLICY", "STATUS", "COMPONENTS", "CREATED", "WHY"],
    groups.map((group) => [
      group.id.slice(0, 8),
      group.chain_profile_id,
      group.failure_policy,
      group.status,
      componentsDone(group),
      `${ageOf(group.created_at, now)} ago`,
      group.why?.code ?? "",
    ]),
  );
}

export function groupText(group: GroupView, now: number): string {
  const gate = gateText(group, now);
  const facts = fields([
    ["group", group.id],
    ["status", groupStatusText(group)],
    ["why", group.why === null ? null : `${group.why.code}: ${group.why.text}`],
    ["profile", group.chain_profile_id],
    ["policy", `${group.failure_policy} when a component fails`],
    ["gate", gate ?? `health ${group.health_wait_seconds} s between components`],
    ["created", `${group.created_at} by ${group.created_by}`],
    ["started", group.started_at],
    ["ended", group.ended_at],
  ]);
  return `${facts}\n\n${componentTable(group)}`;
}

const componentTable = ({ components }: GroupView): string =>
  table(
    ["#", "COMPONENT", "ROLLOUT", "VERSIONS", "STATUS", "DONE", "FAILED", "WHY"],
    components.map(({ component_index, binary_name, rollout }) => [
      String(component_index + 1),
      binary_name,
      rollout.id.slice(0, 8),
      `${rollout.source_version} → ${rollout.target_version}`,
      statusText(rollout),
      `${rollout.counters.succeeded}/${rollout.counters.total}`,
      String(rollout.counters.failed + rollout.counters.failed_rollback),
      rollout.status === "pending" ? "" : (rollout.why?.code ?? ""),
    ]),
  );

export function groupStatusText({ status, pause_requested, cancel_requested }: GroupView): string {
  if (status !== "running") return status;
  if (cancel_requested) return "running, ends soon";
  return pause_requested ? "running, pauses soon" : status;
}

/** Null when no gate is open. */
export function gateText({ gate_until }: GroupView, now: number): string | null {
  if (gate_until === null) return null;
  const left = Date.parse(gate_until) - now;
  return left <= 0 ? "health is being judged" : `health is watched for another ${durationText(left)}`;
}

const componentsDone = ({ components }: GroupView): string =>
  `${components.filter(({ rollout }) => rollout.status === "completed").length}/${components.length} completed`;
