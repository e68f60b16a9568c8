/** One node: what it is, what it runs, what it holds, and what it last refused. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { nodeQuery } from "../../api/queries.ts";
import { useFleetEvents } from "../../api/use-fleet-events.ts";
import { Chip } from "../../ui/chip.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { usePageTitle } from "../../ui/use-page-title.ts";
import { STANDING_LOOKS, standingOf } from "../fleet/node-facts.ts";
import { AppliedSnapshots } from "./applied-snapshots.tsx";
import { LastRejection } from "./last-rejection.tsx";
import { NodeFacts } from "./node-facts.tsx";
import { Programs } from "./programs.tsx";
import { Upgrades } from "./upgrades.tsx";
import "./node-page.css";

export function NodePage({ id }: { readonly id: string }) {
  useFleetEvents();
  const { data: node, error, refetch } = useQuery(nodeQuery(id));
  usePageTitle(node === undefined ? "Node" : node.name);
  return (
    <div className="page">
      <nav aria-label="Breadcrumb" className="breadcrumb">
        <Link to="/">Fleet</Link>
      </nav>
      <div className="title-line">
        <h1>{node?.name ?? "Node"}</h1>
        {node === undefined ? null : <Chip look={STANDING_LOOKS[standingOf(node)]} />}
      </div>
      {error !== null && node === undefined ? (
        <ErrorPanel error={error} onRetry={() => void refetch()} />
      ) : null}
      {node === undefined && error === null ? <Skeleton lines={10} name="the node" /> : null}
      {node === undefined ? null : (
        <div className="node-panels">
          <LastRejection rejection={node.last_rejection} />
          <Programs node={node} />
          <Upgrades nodeId={node.id} />
          <NodeFacts node={node} />
          <AppliedSnapshots nodeId={node.id} applied={node.applied} />
        </div>
      )}
    </div>
  );
}
