import { Link } from "@tanstack/react-router";
import type { RolloutView } from "../../../core/protocol/operator-api.ts";
import { Copyable, shortDigest } from "../../ui/copyable.tsx";
import { RolloutChip } from "../../ui/rollout-chip.tsx";
import { dateTimeText } from "../../ui/time-text.ts";
import { Versions } from "../../ui/versions.tsx";
import { Controls } from "./controls-bar.tsx";
import { whyText } from "./why.ts";
import { WhyLine } from "./why-line.tsx";

export function RolloutHeader({ rollout }: { readonly rollout: RolloutView }) {
  return (
    <header className="rollout-header">
      <div className="rollout-title">
        <h1>
          {rollout.chain_profile_id} <Versions from={rollout.source_version} to={rollout.target_version} />
        </h1>
        <RolloutChip rollout={rollout} />
        <Controls rollout={rollout} />
      </div>
      <WhyLine why={(now) => whyText(rollout, now)} />
      <ul className="rollout-facts" aria-label="Facts">
        {rollout.group_id === null ? null : (
          <li>
            <Link to="/groups/$groupId" params={{ groupId: rollout.group_id }}>
              component {(rollout.component_index ?? 0) + 1} of its group
            </Link>
            , which drives it
          </li>
        )}
        <li>
          {rollout.binary_name} on {rollout.node_type}
          {labelsText(rollout.node_labels)}
        </li>
        {strategyFacts(rollout).map((fact) => (
          <li key={fact}>{fact}</li>
        ))}
        <li>
          target{" "}
          <Copyable
            value={rollout.target_binary_checksum}
            short={shortDigest(rollout.target_binary_checksum)}
            name="target checksum"
          />
        </li>
        <li>{intentFact(rollout.intent)}</li>
        <li>
          created by {rollout.created_by}, {dateTimeText(rollout.created_at)}
        </li>
      </ul>
    </header>
  );
}

function intentFact(intent: RolloutView["intent"]): string {
  if (intent === null) return "no signed intent";
  return intent.voided ? "signed intent called off" : `signed intent until ${dateTimeText(intent.not_after)}`;
}

function strategyFacts(rollout: RolloutView): readonly string[] {
  const { strategy, canary_size, max_unavailable: limit } = rollout;
  const how = strategy.replaceAll("_", " ");
  return [
    strategy === "canary"
      ? `${how} of ${canary_size}, then ${rollout.batch_size} per batch`
      : `${how}, ${rollout.batch_size} per batch`,
    rollout.force_continue ? "failures do not pause it" : thresholdText(rollout.failure_threshold),
    ...(rollout.skip_validation ? ["health is not observed"] : []),
    ...(limit === null ? [] : [`at most ${limit.count} away per ${limit.label}`]),
    `${rollout.migration_type === "none" ? "no" : rollout.migration_type} migration, rollback ${rollout.rollback_allowed ? "allowed" : "not signed"}`,
  ];
}

function labelsText(labels: RolloutView["node_labels"]): string {
  const words = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return words.length === 0 ? "" : ` with ${words.join(", ")}`;
}

const thresholdText = (threshold: number): string =>
  threshold === 0 ? "pauses at the first failure" : `pauses above ${Math.round(threshold * 100)} % failed`;
