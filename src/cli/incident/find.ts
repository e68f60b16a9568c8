/** Incidents: listed, and found by what an operator typed. */
import { IncidentId, IncidentList, IncidentView } from "../../core/protocol/incident-api.ts";
import type { Api } from "../api.ts";
import { everyPage, queryOf, type Query } from "../pages.ts";
import { byPrefix, only, refuseNoPrefix } from "../resolve.ts";

/** A prefix is looked for among the newest so many. */
const SEARCHED_MAX = 5000;

/** Newest first. */
export const listIncidents = (api: Api, query: Query, itemsMax: number): Promise<IncidentView[]> =>
  everyPage(async (page) => {
    const path = `/api/v1/incidents?${queryOf({ ...query, ...page })}`;
    const { incidents, next_cursor } = await api.get(path, IncidentList);
    return { items: incidents, next: next_cursor };
  }, itemsMax);

export async function resolveIncident(api: Api, text: string): Promise<IncidentView> {
  const id = IncidentId.safeParse(text);
  if (id.success) return api.get(`/api/v1/incidents/${id.data}`, IncidentView);
  refuseNoPrefix(text);
  const found = byPrefix(await listIncidents(api, {}, SEARCHED_MAX), text);
  return only("incident", text, found, (incident) => `${incident.id} (${incident.title})`);
}
