/** What happened to one node, newest first. */
import { z } from "zod";
import type { NodeId, RolloutId } from "../../core/ids.ts";
import { EventView } from "../../core/protocol/operator-api.ts";
import { decodeCursor, encodeCursor } from "../api/cursor.ts";
import type { Database } from "../db/database.ts";

interface Page {
  readonly limit: number;
  readonly cursor?: string;
  readonly rollout_id?: RolloutId;
}

interface EventRow {
  readonly id: number;
  readonly at: Date;
}

export async function eventsOfNode(db: Database, id: NodeId, { limit, cursor, rollout_id }: Page) {
  const before = cursor === undefined ? null : decodeCursor(cursor, z.int().min(1));
  const rows = await db<EventRow[]>`
    select id, at, kind, rollout_id, group_id, node_id, actor, data from events
    where node_id = ${id}
      ${rollout_id === undefined ? db`` : db`and rollout_id = ${rollout_id}`}
      ${before === null ? db`` : db`and id < ${before}`}
    order by id desc limit ${limit + 1}`;
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    events: shown.map((row) => EventView.parse({ ...row, at: row.at.toISOString() })),
    next_cursor: rows.length > limit && last !== undefined ? encodeCursor(last.id) : null,
  };
}
