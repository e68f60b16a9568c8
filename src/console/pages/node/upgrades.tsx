/** A node's upgrades, the newest first: the eight actions of each, and why it ended as it did. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { attemptsOf, type UpgradeAttempt } from "../../../core/upgrade/timeline.ts";
import { nodeEventsQuery } from "../../api/steer-queries.ts";
import { Chip } from "../../ui/chip.tsx";
import { Empty } from "../../ui/empty.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { dateTimeText, durationText } from "../../ui/time-text.ts";
import { UPGRADE_LOOKS } from "../../ui/tones.ts";
import { UpgradeSteps } from "../../ui/upgrade-steps.tsx";

const SHOWN_MAX = 5;

export function Upgrades({ nodeId }: { readonly nodeId: string }) {
  const { data, error, refetch } = useQuery(nodeEventsQuery(nodeId));
  const attempts = data === undefined ? undefined : attemptsOf(data.events.toReversed());
  return (
    <section className="panel upgrades-panel" aria-labelledby="upgrades-heading">
      <div className="panel-head">
        <h2 id="upgrades-heading">Upgrades</h2>
      </div>
      {error !== null && data === undefined ? (
        <ErrorPanel error={error} onRetry={() => void refetch()} />
      ) : null}
      {attempts === undefined && error === null ? <Skeleton lines={8} name="upgrades" /> : null}
      {attempts?.length === 0 ? (
        <Empty title="This node has not been upgraded yet.">
          <p>What a rollout does here is told action by action.</p>
        </Empty>
      ) : null}
      {attempts?.slice(0, SHOWN_MAX).map((attempt) => (
        <Attempt key={attempt.id} attempt={attempt} />
      ))}
    </section>
  );
}

function Attempt({ attempt }: { readonly attempt: UpgradeAttempt }) {
  const took = attempt.endedAt === null ? null : Date.parse(attempt.endedAt) - Date.parse(attempt.startedAt);
  return (
    <article className="attempt">
      <div className="attempt-head">
        <h3>{attempt.direction === "forward" ? "Upgrade" : "Way back"}</h3>
        <Chip look={UPGRADE_LOOKS[attempt.status]} />
        <span className="muted numbers">
          {dateTimeText(attempt.startedAt)}
          {took === null ? "" : `, ${durationText(took)}`}
        </span>
        {attempt.rolloutId === null ? null : (
          <Link to="/rollouts/$rolloutId" params={{ rolloutId: attempt.rolloutId }}>
            Rollout
          </Link>
        )}
      </div>
      <UpgradeSteps attempt={attempt} />
    </article>
  );
}
