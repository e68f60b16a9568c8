import type { RolloutView } from "../../../core/protocol/operator-api.ts";
import { Copyable, shortDigest } from "../../ui/copyable.tsx";
import { RolloutChip } from "../../ui/rollout-chip.tsx";
import { dateTimeText } from "../../ui/time-text.ts";
import { Versions } from "../../ui/versions.tsx";
import { Controls } from "./controls-bar.tsx";
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
      <WhyLine rollout={rollout} />
      <ul className="rollout-facts" aria-label="Facts">
        <li>
          {rollout.binary_name} on {rollout.node_type}
        </li>
        <li>
          {rollout.strategy.replaceAll("_", " ")}, {rollout.batch_size} per batch
        </li>
        <li>{thresholdText(rollout.failure_threshold)}</li>
        <li>
          target{" "}
          <Copyable
            value={rollout.target_binary_checksum}
            short={shortDigest(rollout.target_binary_checksum)}
            name="target checksum"
          />
        </li>
        <li>
          {rollout.intent === null
            ? "no signed intent"
            : `signed intent until ${dateTimeText(rollout.intent.not_after)}`}
        </li>
        <li>
          created by {rollout.created_by}, {dateTimeText(rollout.created_at)}
        </li>
      </ul>
    </header>
  );
}

const thresholdText = (threshold: number): string =>
  threshold === 0 ? "pauses at the first failure" : `pauses above ${Math.round(threshold * 100)} % failed`;
