import { useQuery } from "@tanstack/react-query";
import { OPEN_INCIDENTS_COUNTED_MAX, openIncidentsQuery } from "../api/steer-queries.ts";

/** How many incidents wait for somebody. Its place is kept when there are none, so that no link moves. */
export function IncidentBadge() {
  const { data: open = 0 } = useQuery(openIncidentsQuery);
  const text = open > OPEN_INCIDENTS_COUNTED_MAX ? `${OPEN_INCIDENTS_COUNTED_MAX}+` : String(open);
  return (
    <span className="incident-badge numbers" data-none={open === 0}>
      {text}
      <span className="visually-hidden"> open</span>
    </span>
  );
}
