/** The nodes whose snapshots are behind, rejected or running out; nothing here means that all are in force. */
import { useQuery } from "@tanstack/react-query";
import { authorityQuery } from "../../api/authority-queries.ts";
import { useFleetEvents } from "../../api/use-fleet-events.ts";
import { Empty } from "../../ui/empty.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { usePageTitle } from "../../ui/use-page-title.ts";
import { TableHead } from "../../ui/table-head.tsx";
import { AuthorityRow } from "./authority-row.tsx";
import { summaryOf } from "./summary.ts";
import "./authority.css";

const COLUMNS = ["Node", "In force", "Look at", "Heartbeat"] as const;

export function AuthorityPage() {
  usePageTitle("Authority");
  useFleetEvents();
  const { data, error, refetch } = useQuery(authorityQuery);
  const summary = data === undefined ? null : summaryOf(data.items);
  return (
    <div className="page">
      <h1>Authority</h1>
      {error !== null && data === undefined ? (
        <ErrorPanel error={error} onRetry={() => void refetch()} />
      ) : null}
      <section className="panel" aria-labelledby="attention-heading">
        <div className="panel-head">
          <h2 id="attention-heading">Nodes that want a look</h2>
          <output className="muted numbers authority-note">
            {summary === null || data === undefined
              ? ""
              : `${summary.attention.length} of ${data.items.length}${data.isComplete ? "" : "+"} nodes`}
          </output>
        </div>
        {data === undefined && error === null ? <Skeleton lines={6} name="the fleet's snapshots" /> : null}
        {summary === null ? null : summary.attention.length === 0 ? (
          <AllInForce nodes={data!.items.length} />
        ) : (
          <Table nodes={summary.attention} />
        )}
      </section>
      {summary === null || summary.calm.length === 0 ? null : (
        <section className="panel" aria-labelledby="calm-heading">
          <div className="panel-head">
            <h2 id="calm-heading">Other nodes</h2>
          </div>
          <Table nodes={summary.calm} labelledBy="calm-heading" />
        </section>
      )}
    </div>
  );
}

interface TableProps {
  readonly nodes: ReturnType<typeof summaryOf>["attention"];
  readonly labelledBy?: string;
}

/** Long lists end: the CLI shows them whole. */
const SHOWN_MAX = 200;

function Table({ nodes, labelledBy = "attention-heading" }: TableProps) {
  return (
    <>
      <table className="table cards-when-narrow fleet-authority-table" aria-labelledby={labelledBy}>
        <TableHead columns={COLUMNS} />
        <tbody>
          {nodes.slice(0, SHOWN_MAX).map((node) => (
            <AuthorityRow key={node.node_id} node={node} />
          ))}
        </tbody>
      </table>
      {nodes.length > SHOWN_MAX ? (
        <p className="panel-note muted">
          {nodes.length - SHOWN_MAX} more: <code>fairlead snapshot list</code>
        </p>
      ) : null}
    </>
  );
}

function AllInForce({ nodes }: { readonly nodes: number }) {
  if (nodes > 0)
    return (
      <Empty title="Every snapshot is in force.">
        <p>A node appears here when one is behind, rejected or running out.</p>
      </Empty>
    );
  return (
    <Empty title="No node has been enrolled yet.">
      <p>
        Make a token with <code>fairlead node token</code>.
      </p>
    </Empty>
  );
}
