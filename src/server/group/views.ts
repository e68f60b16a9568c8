/** Groups as the API shows them. */
import { z } from "zod";
import { FairleadError } from "../../core/errors.ts";
import { explainGroup } from "../../core/group/explain.ts";
import type { GroupStatus } from "../../core/group/states.ts";
import { Uuid } from "../../core/ids.ts";
import { GroupView, type GroupId } from "../../core/protocol/group-api.ts";
import type { RolloutView } from "../../core/protocol/operator-api.ts";
import type { Why } from "../../core/rollout/rows.ts";
import { decodeCursor, encodeCursor } from "../api/cursor.ts";
import type { GroupFilter } from "../api/ports.ts";
import type { Database } from "../db/database.ts";
import { readComponents } from "../rollout/views.ts";

/** Age as the database prints it: a Date would round it to milliseconds and skip rows. */
const GroupCursor = z.tuple([z.string().regex(/^[0-9 :.+-]{10,40}$/), Uuid]);

interface GroupRecord {
  readonly id: string;
  readonly status: GroupStatus;
  readonly current_component: number;
  readonly health_wait_ms: number;
  readonly gate_until: Date | null;
  readonly why: Why | null;
  readonly created_at: Date;
  readonly created_at_exact: string;
  readonly started_at: Date | null;
  readonly ended_at: Date | null;
}

const columns = (db: Database) => db`
  select id, chain_profile_id, status, failure_policy, strategy, desired_versions, current_component, health_wait_ms,
    gate_until, pause_requested, cancel_requested, why, created_by, created_at, created_at::text as created_at_exact,
    started_at, ended_at
  from rollout_groups`;

export async function readGroup(db: Database, id: GroupId): Promise<GroupView> {
  const [row] = await db<GroupRecord[]>`${columns(db)} where id = ${id}`;
  if (row === undefined) throw new FairleadError("NOT_FOUND", `no rollout group ${id}`);
  const components = await readComponents(db, [id]);
  return viewOf(row, components.get(id) ?? []);
}

/** Newest first; the cursor is the last one's age and id. */
export async function readGroups(db: Database, filter: GroupFilter) {
  const after = filter.cursor === undefined ? null : decodeCursor(filter.cursor, GroupCursor);
  const rows = await db<GroupRecord[]>`
    ${columns(db)} where true
      ${filter.status === undefined ? db`` : db`and status = ${filter.status}`}
      ${filter.chain_profile_id === undefined ? db`` : db`and chain_profile_id = ${filter.chain_profile_id}`}
      ${after === null ? db`` : db`and (created_at, id) < (${after[0]}::timestamptz, ${after[1]}::uuid)`}
    order by created_at desc, id desc limit ${filter.limit + 1}`;
  const page = rows.slice(0, filter.limit);
  const components = await readComponents(
    db,
    page.map(({ id }) => id),
  );
  const last = page.at(-1);
  const more = rows.length > filter.limit && last !== undefined;
  return {
    groups: page.map((row) => viewOf(row, components.get(row.id) ?? [])),
    next_cursor: more ? encodeCursor([last.created_at_exact, last.id]) : null,
  };
}

const iso = (at: Date | null): string | null => (at === null ? null : at.toISOString());

function viewOf(row: GroupRecord, rollouts: readonly RolloutView[]): GroupView {
  const { health_wait_ms, created_at_exact: _exact, ...rest } = row;
  const gateUntil = iso(row.gate_until);
  const why = explainGroup({
    id: row.id,
    status: row.status,
    why: row.why,
    currentComponent: row.current_component,
    gateUntil,
    components: rollouts.map(({ binary_name, status, why: reason }) => ({
      name: binary_name,
      status,
      why: reason,
    })),
  });
  return GroupView.parse({
    ...rest,
    health_wait_seconds: health_wait_ms / 1000,
    gate_until: gateUntil,
    why,
    components: rollouts.map((rollout) => ({
      component_index: rollout.component_index,
      binary_name: rollout.binary_name,
      rollout,
    })),
    created_at: iso(row.created_at),
    started_at: iso(row.started_at),
    ended_at: iso(row.ended_at),
  });
}
