/** What a person must look at, newest first; all of them, or those of one status. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { INCIDENT_STATUSES, type IncidentStatus } from "../../../core/incident/states.ts";
import type { IncidentView } from "../../../core/protocol/incident-api.ts";
import { incidentsQuery } from "../../api/steer-queries.ts";
import { useFleetEvents } from "../../api/use-fleet-events.ts";
import { Age } from "../../ui/age.tsx";
import { Chip } from "../../ui/chip.tsx";
import { Empty } from "../../ui/empty.tsx";
import { ListPanel } from "../../ui/list-page.tsx";
import { CATEGORY_LABELS, INCIDENT_LOOKS, SEVERITY_LOOKS } from "../../ui/tones.ts";
import { usePageTitle } from "../../ui/use-page-title.ts";
import "./incidents-page.css";

const COLUMNS = ["Incident", "Severity", "Status", "Node", "Opened"] as const;

interface Props {
  readonly status: IncidentStatus | null;
  readonly onStatus: (status: IncidentStatus | null) => void;
}

export function IncidentsPage({ status, onStatus }: Props) {
  usePageTitle("Incidents");
  useFleetEvents();
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    incidentsQuery(status),
  );
  const incidents = data?.pages.flatMap((page) => page.incidents);
  return (
    <div className="page">
      <div className="title-line">
        <h1 id="incidents-heading">Incidents</h1>
        <label className="status-choice">
          Show
          <select value={status ?? ""} onChange={(event) => onStatus(statusOf(event.target.value))}>
            <option value="">all</option>
            {INCIDENT_STATUSES.map((each) => (
              <option key={each} value={each}>
                {each}
              </option>
            ))}
          </select>
        </label>
      </div>
      <ListPanel
        headingId="incidents-heading"
        name="incidents"
        columns={COLUMNS}
        className="incidents-table"
        error={error}
        onRetry={() => void refetch()}
        rows={incidents?.map((incident) => (
          <IncidentRow key={incident.id} incident={incident} />
        ))}
        empty={<NoIncidents status={status} />}
        more={hasNextPage ? { isBusy: isFetchingNextPage, onPress: () => void fetchNextPage() } : null}
      />
    </div>
  );
}

const statusOf = (value: string): IncidentStatus | null =>
  INCIDENT_STATUSES.find((status) => status === value) ?? null;

function IncidentRow({ incident }: { readonly incident: IncidentView }) {
  return (
    <tr>
      <th scope="row">
        <Link to="/incidents/$incidentId" params={{ incidentId: incident.id }}>
          {incident.title}
        </Link>
        <span className="row-note">{CATEGORY_LABELS[incident.category]}</span>
      </th>
      <td data-label="Severity">
        <Chip look={SEVERITY_LOOKS[incident.severity]} />
      </td>
      <td data-label="Status">
        <Chip look={INCIDENT_LOOKS[incident.status]} />
      </td>
      <td data-label="Node">
        {incident.node_id === null ? (
          <span className="muted">none</span>
        ) : (
          <Link to="/nodes/$nodeId" params={{ nodeId: incident.node_id }}>
            {incident.node_name ?? incident.node_id.slice(0, 8)}
          </Link>
        )}
      </td>
      <td data-label="Opened">
        <Age at={incident.opened_at} />
      </td>
    </tr>
  );
}

const NoIncidents = ({ status }: { readonly status: IncidentStatus | null }) => (
  <Empty title={status === null ? "There has been no incident." : `No incident is ${status}.`}>
    <p>
      A failed upgrade, a node that is down, a crash loop, a refused snapshot, and a key or certificate near
      its end appear here by themselves.
    </p>
  </Empty>
);
