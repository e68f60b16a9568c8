/** What the clock watch reads and writes: the database's clock, the other replicas, what an operator confirmed. */
import type { Database } from "../db/database.ts";
import type { ClockRows } from "./agreement.ts";

export async function readClockRows(db: Database, replicaId: string): Promise<ClockRows> {
  const [[read], replicas] = await Promise.all([
    db<
      {
        now: Date;
        proven: Date | null;
        seq: number | null;
        true_time: Date | null;
        database_time: Date | null;
      }[]
    >`select clock_timestamp() as now, (select at from proven_time) as proven, c.seq, c.true_time, c.database_time
      from (select 1) one
      left join lateral (select * from clock_confirmations order by seq desc limit 1) c on true`,
    db<{ offset_ms: number; signs: boolean }[]>`
      select clock_offset_ms as offset_ms, clock_problem is null as signs from replicas
      where id <> ${replicaId} and lease_until > clock_timestamp() and clock_offset_ms is not null`,
  ]);
  const { now, proven, seq, true_time, database_time } = read!;
  return {
    databaseNow: now.getTime(),
    provenAt: proven?.getTime() ?? null,
    replicas: replicas.map(({ offset_ms, signs }) => ({ offsetMs: offset_ms, signs })),
    confirmed:
      seq === null ? null : { seq, trueTime: true_time!.getTime(), database: database_time!.getTime() },
  };
}

/** Written when it changed: the row itself is the lease's. */
export async function writeClockRow(
  db: Database,
  replicaId: string,
  { offsetMs, problem }: { readonly offsetMs: number; readonly problem: string | null },
): Promise<void> {
  await db`
    update replicas set clock_offset_ms = ${Math.round(offsetMs)}, clock_problem = ${problem} where id = ${replicaId}`;
}

/** Of live replicas, this one included. */
export async function isAnyStopped(db: Database): Promise<boolean> {
  const [row] = await db<{ stopped: boolean }[]>`
    select exists (select 1 from replicas where lease_until > clock_timestamp() and clock_problem is not null) as stopped`;
  return row!.stopped;
}

/** The clocks agree now. */
export async function writeProvenTime(db: Database): Promise<void> {
  await db`
    insert into proven_time (at) values (clock_timestamp())
    on conflict (only_one) do update set at = excluded.at`;
}

/** Nodes that were heard within a day before that time. */
export async function countNodesBefore(db: Database, provenAt: number): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select count(*)::int as count from node_heartbeats hb join nodes n on n.id = hb.node_id
    where n.revoked_at is null and hb.received_at > ${new Date(provenAt)}::timestamptz - interval '1 day'`;
  return row!.count;
}
