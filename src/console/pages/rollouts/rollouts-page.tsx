/** Every rollout, newest first. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { Button } from "react-aria-components/Button";
import { rolloutsQuery } from "../../api/queries.ts";
import { useFleetEvents } from "../../api/use-fleet-events.ts";
import { Empty } from "../../ui/empty.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { usePageTitle } from "../../ui/use-page-title.ts";
import { TableHead } from "../../ui/table-head.tsx";
import { RolloutRow } from "./rollout-row.tsx";
import "./rollouts-page.css";

const COLUMNS = ["Rollout", "Status", "Progress", "Created"] as const;

export function RolloutsPage() {
  usePageTitle("Rollouts");
  useFleetEvents();
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } =
    useInfiniteQuery(rolloutsQuery);
  const rollouts = data?.pages.flatMap((page) => page.rollouts);
  return (
    <div className="page">
      <h1 id="rollouts-heading">Rollouts</h1>
      {error !== null && data === undefined ? (
        <ErrorPanel error={error} onRetry={() => void refetch()} />
      ) : null}
      <section className="panel" aria-labelledby="rollouts-heading">
        {rollouts === undefined && error === null ? <Skeleton lines={6} name="rollouts" /> : null}
        {rollouts?.length === 0 ? <NoRollouts /> : null}
        {rollouts === undefined || rollouts.length === 0 ? null : (
          <table className="table cards-when-narrow rollouts-table" aria-labelledby="rollouts-heading">
            <TableHead columns={COLUMNS} />
            <tbody>
              {rollouts.map((rollout) => (
                <RolloutRow key={rollout.id} rollout={rollout} />
              ))}
            </tbody>
          </table>
        )}
        {hasNextPage ? (
          <Button
            className="button more"
            isDisabled={isFetchingNextPage}
            onPress={() => void fetchNextPage()}
          >
            Show older rollouts
          </Button>
        ) : null}
      </section>
    </div>
  );
}

const NoRollouts = () => (
  <Empty title="No rollout has been created yet.">
    <p>
      Create and sign one with <code>fairlead rollout create</code>; it appears here at once.
    </p>
  </Empty>
);
