import { Link } from "@tanstack/react-router";
import type { AppliedVersions } from "../../../core/protocol/agent-api.ts";
import { Empty } from "../../ui/empty.tsx";

/** What the node has verified and applied; a version that lags behind its neighbours' is worth a look. */
export function AppliedSnapshots({
  nodeId,
  applied,
}: {
  readonly nodeId: string;
  readonly applied: AppliedVersions;
}) {
  const rows = Object.entries(applied).toSorted(([a], [b]) => a.localeCompare(b));
  return (
    <section className="panel" aria-labelledby="applied-heading">
      <div className="panel-head">
        <h2 id="applied-heading">Applied snapshots</h2>
        <Link to="/nodes/$nodeId/authority" params={{ nodeId }}>
          Authority
        </Link>
      </div>
      {rows.length === 0 ? (
        <Empty title="No snapshot has been applied yet.">
          <p>The trust bundle comes first, with enrollment.</p>
        </Empty>
      ) : (
        <table className="table" aria-labelledby="applied-heading">
          <thead>
            <tr>
              <th scope="col">Scope</th>
              <th scope="col">Epoch</th>
              <th scope="col">Version</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(([scope, { epoch, version }]) => (
              <tr key={scope}>
                <th scope="row">
                  <code>{scope}</code>
                </th>
                <td className="numbers">{epoch}</td>
                <td className="numbers">{version}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
