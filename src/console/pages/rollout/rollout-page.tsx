/** One rollout, live: where it is, why, what each node does, and the controls. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { rolloutNodesQuery, rolloutQuery } from "../../api/queries.ts";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { StatusAnnouncer } from "../../ui/status-announcer.tsx";
import { ROLLOUT_LOOKS } from "../../ui/tones.ts";
import { usePageTitle } from "../../ui/use-page-title.ts";
import { groupBatches } from "./batches.ts";
import { CanaryPanel } from "./canary-panel.tsx";
import { NodeGrid } from "./node-grid.tsx";
import { NodePanel } from "./node-panel.tsx";
import { RolloutHeader } from "./rollout-header.tsx";
import { RolloutProgress } from "./rollout-progress.tsx";
import { Timeline } from "./timeline-panel.tsx";
import { useLiveRollout } from "./use-live-rollout.ts";
import "./rollout-page.css";
import "./side-panels.css";

const NO_NAMES: ReadonlyMap<string, string> = new Map();

export function RolloutPage({ id }: { readonly id: string }) {
  const { data: rollout, error, refetch } = useQuery(rolloutQuery(id));
  const nodes = useQuery(rolloutNodesQuery(id));
  const timeline = useLiveRollout(id, rollout !== undefined && nodes.data !== undefined);
  const [selectedId, select] = useState<string | null>(null);
  usePageTitle(rollout === undefined ? "Rollout" : `${rollout.chain_profile_id} ${rollout.target_version}`);

  const items = nodes.data?.items;
  const batches = useMemo(
    () => (items === undefined || rollout === undefined ? null : groupBatches(items, rollout)),
    [items, rollout],
  );

  return (
    <div className="page rollout-page">
      <nav aria-label="Breadcrumb" className="breadcrumb">
        <Link to="/rollouts">Rollouts</Link>
      </nav>
      {rollout === undefined ? (
        <>
          <h1>Rollout</h1>
          {error === null ? <Skeleton lines={6} name="the rollout" /> : null}
          {error === null ? null : <ErrorPanel error={error} onRetry={() => void refetch()} />}
        </>
      ) : (
        <>
          <StatusAnnouncer
            name="Rollout"
            look={ROLLOUT_LOOKS[rollout.status]}
            why={rollout.why?.text ?? null}
          />
          <RolloutHeader rollout={rollout} />
          <RolloutProgress rollout={rollout} nodes={nodes.data} />
          {rollout.strategy === "canary" ? <CanaryPanel rollout={rollout} nodes={items ?? []} /> : null}
          <div className="rollout-columns">
            <section className="panel" aria-labelledby="batches-heading">
              <div className="panel-head">
                <h2 id="batches-heading">Batches</h2>
                {nodes.data?.isComplete === false ? (
                  <p className="muted">The first {nodes.data.items.length} nodes are shown.</p>
                ) : null}
              </div>
              {nodes.error !== null && batches === null ? (
                <ErrorPanel error={nodes.error} onRetry={() => void nodes.refetch()} />
              ) : null}
              {batches === null && nodes.error === null ? <Skeleton lines={6} name="nodes" /> : null}
              {batches === null ? null : (
                <NodeGrid batches={batches} rollout={rollout} selectedId={selectedId} onSelect={select} />
              )}
            </section>
            <aside className="rollout-side" aria-label="Details">
              <NodePanel rollout={rollout} nodes={items ?? []} selectedId={selectedId} onSelect={select} />
              <Timeline entries={timeline} names={nodes.data?.names ?? NO_NAMES} />
            </aside>
          </div>
        </>
      )}
    </div>
  );
}
