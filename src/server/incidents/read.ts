/** Incidents as the API shows them. */
import { z } from "zod";
import { FairleadError } from "../../core/errors.ts";
import { Uuid, type NodeId, type RolloutId } from "../../core/ids.ts";
import type { IncidentCategory, IncidentStatus } from "../../core/incident/states.ts";
import { IncidentView, type IncidentId, type IncidentList } from "../../core/protocol/incident-api.ts";
import { decodeCursor, encodeCursor } from "../api/cursor.ts";
import type { Page } from "../api/ports.ts";
import type { Database, Queryable } from "../db/database.ts";

export interface IncidentFilter extends Page {
  readonly status?: IncidentStatus;
  readonly category?: IncidentCategory;
  readonly rollout_id?: RolloutId;
  readonly node_id?: NodeId;
}

/** Age as the database prints it: a Date would round it to milliseconds and skip rows. */
const After = z.tuple([z.string().regex(/^[0-9 :.+-]{10,40}$/), Uuid]);

/** Newest first. */
export async function listIncidents(db: Database, filter: IncidentFilter): Promise<IncidentList> {
  const { status, category, rollout_id, node_id, limit, cursor } = filter;
  const after = cursor === undefined ? null : decodeCursor(cursor, After);
  const rows = await db<IncidentRow[]>`
    ${select(db)} where true
      ${status === undefined ? db`` : db`and i.status = ${status}`}
      ${category === undefined ? db`` : db`and i.category = ${category}`}
      ${rollout_id === undefined ? db`` : db`and i.rollout_id = ${rollout_id}`}
      ${node_id === undefined ? db`` : db`and i.node_id = ${node_id}`}
      ${after === null ? db`` : db`and (i.opened_at, i.id) < (${after[0]}::timestamptz, ${after[1]}::uuid)`}
    order by i.opened_at desc, i.id desc limit ${limit + 1}`;
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  return {
    incidents: page.map(viewOf),
    next_cursor: last === undefined ? null : encodeCursor([last.opened_at_exact, last.id]),
  };
}

export async function readIncident(db: Queryable, id: IncidentId): Promise<IncidentView> {
  const [row] = await db<IncidentRow[]>`${select(db)} where i.id = ${id}`;
  if (row === undefined) throw new FairleadError("NOT_FOUND", `there is no incident ${id}`);
  return viewOf(row);
}

interface IncidentRow {
  readonly id: string;
  readonly opened_at: Date;
  readonly opened_at_exact: string;
  readonly last_seen_at: Date | null;
  readonly acknowledged_at: Date | null;
  readonly resolved_at: Date | null;
}

const select = (db: Queryable) => db`
  select i.*, i.opened_at::text as opened_at_exact, n.name as node_name
  from incidents i left join nodes n on n.id = i.node_id`;

function viewOf(row: IncidentRow): IncidentView {
  const { opened_at_exact: _, ...shown } = row;
  return IncidentView.parse({
    ...shown,
    opened_at: row.opened_at.toISOString(),
    last_seen_at: row.last_seen_at?.toISOString() ?? null,
    acknowledged_at: row.acknowledged_at?.toISOString() ?? null,
    resolved_at: row.resolved_at?.toISOString() ?? null,
  });
}
