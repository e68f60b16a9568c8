/** Marks by hand, for what no row of the model says: keys that change, epochs that open, snapshots that grow old. */
import { LIMITS } from "../../core/limits.ts";
import type { Database, Transaction } from "../db/database.ts";

export const SNAPSHOTS_CHANNEL = "fairlead_snapshots";
const REFRESHED_AT_ONCE = 5_000;

/**
 * Every node in every scope that it holds or has held. `force`: published anew even where the content is the same, as
 * new keys and new epochs need it.
 */
export async function markAllDirty(
  tx: Transaction,
  { force = false }: { readonly force?: boolean } = {},
): Promise<void> {
  await tx`
    insert into snapshot_dirty (node_id, scope_type, force)
    select d.id, d.scope_type, ${force} from (
      select n.id, s.scope_type from nodes n join snapshot_sections s on s.roles = '{}' or s.roles && n.roles
      union select node_id, scope_type from snapshots
    ) d join nodes n on n.id = d.id where n.enrolled_at is not null and n.revoked_at is null`;
  await tx`select pg_notify(${SNAPSHOTS_CHANNEL}, '')`;
}

/** What a clock signed that was ahead: nodes refuse it, and it would not be due for as long as that (SNAP-17). */
export async function markSignedAhead(db: Database): Promise<number> {
  const rows = await db`
    insert into snapshot_dirty (node_id, scope_type, force)
    select s.node_id, s.scope_type, true from snapshots s join nodes n on n.id = s.node_id
    where s.issued_at > clock_timestamp() + ${LIMITS.clockDisagreeMs} * interval '1 millisecond'
      and n.enrolled_at is not null and n.revoked_at is null returning 1`;
  if (rows.length > 0) await db`select pg_notify(${SNAPSHOTS_CHANNEL}, '')`;
  return rows.length;
}

/** What is due again and not marked yet; how many. */
export async function markDue(db: Database, now: number): Promise<number> {
  const rows = await db`
    insert into snapshot_dirty (node_id, scope_type)
    select s.node_id, s.scope_type from snapshots s join nodes n on n.id = s.node_id
    where s.refresh_after <= ${new Date(now)} and n.enrolled_at is not null and n.revoked_at is null
      and not exists (select 1 from snapshot_dirty d where d.node_id = s.node_id and d.scope_type = s.scope_type)
    order by s.refresh_after limit ${REFRESHED_AT_ONCE} returning 1`;
  return rows.length;
}
