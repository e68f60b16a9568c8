import { useInfiniteQuery } from "@tanstack/react-query";
import { isActive } from "../../../core/rollout/states.ts";
import { rolloutsQuery } from "../../api/queries.ts";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { RolloutCard } from "./rollout-card.tsx";

/** The newest page holds every active one but in odd cases: a profile has at most one at a time (rule 5). */
export function ActiveRollouts() {
  const { data, error, refetch } = useInfiniteQuery(rolloutsQuery);
  const active = data?.pages.flatMap((page) => page.rollouts).filter(({ status }) => isActive(status));
  return (
    <section className="panel" aria-labelledby="active-heading">
      <div className="panel-head">
        <h2 id="active-heading">Active rollouts</h2>
      </div>
      {error !== null && data === undefined ? (
        <ErrorPanel error={error} onRetry={() => void refetch()} />
      ) : null}
      {active === undefined && error === null ? <Skeleton lines={2} name="rollouts" /> : null}
      {active?.length === 0 ? <p className="panel-note muted">No rollout is under way.</p> : null}
      <ul className="rollout-cards">
        {active?.map((rollout) => (
          <li key={rollout.id}>
            <RolloutCard rollout={rollout} />
          </li>
        ))}
      </ul>
    </section>
  );
}
