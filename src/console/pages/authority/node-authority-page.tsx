/** What one node may do by its signed snapshots: each scope's version, age, expiry and signer, and what it refused. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { NodeSnapshots } from "../../../core/protocol/snapshot-api.ts";
import { nodeSnapshotsQuery } from "../../api/authority-queries.ts";
import { useFleetEvents } from "../../api/use-fleet-events.ts";
import { Age } from "../../ui/age.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { usePageTitle } from "../../ui/use-page-title.ts";
import { TableHead } from "../../ui/table-head.tsx";
import { COLUMNS, ScopeRow } from "./scope-row.tsx";
import "./authority.css";

export function NodeAuthorityPage({ id }: { readonly id: string }) {
  useFleetEvents();
  const { data, error, refetch } = useQuery(nodeSnapshotsQuery(id));
  const name = data?.node_name ?? "Node";
  usePageTitle(`Authority of ${name}`);
  return (
    <div className="page">
      <nav aria-label="Breadcrumb" className="breadcrumb">
        <Link to="/authority">Authority</Link>
        {" / "}
        <Link to="/nodes/$nodeId" params={{ nodeId: id }}>
          {name}
        </Link>
      </nav>
      <h1>Authority of {name}</h1>
      {error !== null && data === undefined ? (
        <ErrorPanel error={error} onRetry={() => void refetch()} />
      ) : null}
      {data === undefined && error === null ? <Skeleton lines={10} name="the node's snapshots" /> : null}
      {data === undefined ? null : <Snapshots node={data} />}
    </div>
  );
}

function Snapshots({ node }: { readonly node: NodeSnapshots }) {
  return (
    <section className="panel" aria-labelledby="snapshots-heading">
      <div className="panel-head">
        <h2 id="snapshots-heading">Signed snapshots</h2>
        <span className="muted authority-note">
          {node.roles.join(", ") || "no role"} · {node.organizations.join(", ") || "no organization"} · heard{" "}
          <Age at={node.last_heartbeat_at} />
        </span>
      </div>
      <table className="table cards-when-narrow authority-table" aria-labelledby="snapshots-heading">
        <TableHead columns={COLUMNS} />
        <tbody>
          {node.snapshots.map((view) => (
            <ScopeRow key={view.scope} view={view} />
          ))}
        </tbody>
      </table>
      <p className="panel-note muted">
        In words: <code>fairlead snapshot explain {node.node_name}</code>
      </p>
    </section>
  );
}
