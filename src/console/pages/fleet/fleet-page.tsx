/** The fleet at a glance: what state it is in, what moves, and every node. */
import { useQuery } from "@tanstack/react-query";
import { useDeferredValue } from "react";
import { nodesQuery } from "../../api/queries.ts";
import { useFleetEvents } from "../../api/use-fleet-events.ts";
import { Empty } from "../../ui/empty.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { useNow } from "../../ui/use-now.ts";
import { usePageTitle } from "../../ui/use-page-title.ts";
import { ActiveRollouts } from "./active-rollouts.tsx";
import { FacetGroups } from "./facet-groups.tsx";
import { FilterBox } from "./filter-box.tsx";
import { filterNodes } from "./filter.ts";
import { NodeTable } from "./node-table.tsx";
import "./fleet-page.css";

const FILTER_AGAIN_MS = 5_000;

interface Props {
  readonly filter: string;
  readonly onFilter: (text: string) => void;
}

export function FleetPage({ filter, onFilter }: Props) {
  usePageTitle("Fleet");
  useFleetEvents();
  const { data, error, refetch } = useQuery(nodesQuery);
  // Typing stays quick while a long table follows.
  const shown = filterNodes(data?.items ?? [], useDeferredValue(filter), useNow(FILTER_AGAIN_MS));
  return (
    <div className="page">
      <h1>Fleet</h1>
      {error !== null && data === undefined ? (
        <ErrorPanel error={error} onRetry={() => void refetch()} />
      ) : null}
      <FacetGroups nodes={data} filter={filter} onFilter={onFilter} />
      <ActiveRollouts />
      <section className="panel" aria-labelledby="nodes-heading">
        <div className="panel-head">
          <h2 id="nodes-heading">Nodes</h2>
          <FilterBox filter={filter} onFilter={onFilter} />
          <output className="muted numbers">
            {data === undefined
              ? ""
              : `${shown.length} of ${data.items.length}${data.isComplete ? "" : "+"} shown`}
          </output>
        </div>
        {data === undefined && error === null ? <Skeleton lines={8} name="nodes" /> : null}
        {data === undefined ? null : data.items.length === 0 ? <NoNodes /> : <NodeTable nodes={shown} />}
      </section>
    </div>
  );
}

const NoNodes = () => (
  <Empty title="No node has been enrolled yet.">
    <p>
      Make a token with <code>fairlead node token</code>, then start <code>fairlead agent</code> on the
      machine.
    </p>
  </Empty>
);
