import { isErrorCode, nextOf } from "../../../core/errors.ts";
import type { NodeUpgradeView } from "../../../core/protocol/operator-api.ts";
import { Copyable, shortDigest } from "../../ui/copyable.tsx";
import { clockText, durationText } from "../../ui/time-text.ts";
import { PHASE_LABELS } from "../../ui/tones.ts";
import { useNow } from "../../ui/use-now.ts";

export function UpgradeDetail({ node }: { readonly node: NodeUpgradeView }) {
  return (
    <>
      {node.error_code === null ? null : (
        <div className="node-error">
          <p>
            <code>{node.error_code}</code>
          </p>
          {node.error_message === null ? null : <p>{node.error_message}</p>}
          {isErrorCode(node.error_code) ? (
            <p className="remedy">What to do: {nextOf(node.error_code, "node")}</p>
          ) : null}
        </div>
      )}
      <dl className="facts">
        <div>
          <dt>Phase</dt>
          <dd>{node.upgrade_phase === null ? "none" : PHASE_LABELS[node.upgrade_phase]}</dd>
        </div>
        <div>
          <dt>Action</dt>
          <dd>{node.action_name === null ? "none" : <code>{node.action_name}</code>}</dd>
        </div>
        {node.waiting_for === null ? null : (
          <div>
            <dt>Waiting</dt>
            <dd>
              for <code>{node.waiting_for}</code>: the agent runs one job at a time
            </dd>
          </div>
        )}
        <div>
          <dt>Progress</dt>
          <dd className="numbers">{node.progress_pct} %</dd>
        </div>
        <div>
          <dt>Direction</dt>
          <dd>
            {node.direction}, attempt {node.attempt_count}
          </dd>
        </div>
        <div>
          <dt>Before</dt>
          <dd>
            {node.previous_version ?? "unknown"}{" "}
            {node.previous_checksum === null ? null : (
              <Copyable
                value={node.previous_checksum}
                short={shortDigest(node.previous_checksum)}
                name="previous checksum"
              />
            )}
          </dd>
        </div>
        <div>
          <dt>Started</dt>
          <dd className="numbers">{node.started_at === null ? "not yet" : clockText(node.started_at)}</dd>
        </div>
        <div>
          <dt>Took</dt>
          <dd className="numbers">
            <Took node={node} />
          </dd>
        </div>
      </dl>
    </>
  );
}

function Took({ node: { started_at, ended_at } }: { readonly node: NodeUpgradeView }) {
  const now = useNow();
  if (started_at === null) return "not started";
  return durationText((ended_at === null ? now : Date.parse(ended_at)) - Date.parse(started_at));
}
