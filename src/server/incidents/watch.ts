/**
 * One look for trouble outside upgrades (ROLL-19): rows in, the pure decision, incidents and their events out, in one
 * transaction.
 *
 * 1. One replica looks for the fleet at a time; the others find the lock taken and go.
 * 2. A look decides over the incidents of the trouble that it has read, and over no other.
 * 3. Trouble that stays as it was is written once a minute: a fleet in trouble costs no write per look.
 */
import type { NodeId } from "../../core/ids.ts";
import { decideIncidents, type KnownIncident, type Trouble } from "../../core/incident/watch.ts";
import type { WatchedCategory } from "../../core/incident/states.ts";
import { LIMITS } from "../../core/limits.ts";
import type { IncidentId } from "../../core/protocol/incident-api.ts";
import type { Database, Transaction } from "../db/database.ts";
import { LOCKS } from "../db/locks.ts";
import { databaseNow } from "../health/facts.ts";
import { readWatch } from "../health/watch.ts";
import type { OwnCertificate } from "./own-certificates.ts";
import { raiseIncidents } from "./raise.ts";
import { certificatesEnding, readEndings, readNodeTroubles } from "./read-troubles.ts";
import { resolveNamed } from "./resolve.ts";

const SEEN_AGAIN_MS = 60_000;
const RESOLVED_NOTE = "the trouble is over";

export interface Looked {
  readonly opened: number;
  readonly resolved: number;
}

/** Nodes that are down, crash loops, refused snapshots; null when another replica looks. */
export const watchNodes = (db: Database, at?: number): Promise<Looked | null> =>
  lookAlone(db, at, readNodeTroubles, NODE_CATEGORIES);

/** Certificates and keys near their end; null when another replica looks. */
export const watchEndings = (
  db: Database,
  site: readonly OwnCertificate[],
  at?: number,
): Promise<Looked | null> =>
  lookAlone(db, at, (tx, now) => readEndings(tx, site, now), ["certificate_expiring", "key_expiring"]);

/** Certificates of this server alone: another replica knows nothing of them, and resolves none of theirs. */
export const watchOwn = (db: Database, own: readonly OwnCertificate[], at?: number): Promise<Looked> =>
  db.begin(async (tx) => {
    const now = at ?? (await databaseNow(tx));
    const known = await knownIncidents(tx, ["certificate_expiring"], now);
    const mine = known.filter(({ subject }) => own.some(({ name }) => subject.startsWith(name))); // (2)
    return settle(tx, certificatesEnding(own, now), mine, now);
  });

const NODE_CATEGORIES = ["node_down", "crash_loop", "snapshot_rejected"] as const;

async function lookAlone(
  db: Database,
  at: number | undefined,
  read: (tx: Transaction, now: number) => Promise<Trouble[]>,
  categories: readonly WatchedCategory[],
): Promise<Looked | null> {
  return db.begin(async (tx) => {
    const [lock] = await tx<
      { held: boolean }[]
    >`select pg_try_advisory_xact_lock(${LOCKS.incidents}) as held`;
    if (!lock!.held) return null; // (1)
    const now = at ?? (await databaseNow(tx));
    const known = await knownIncidents(tx, categories, now);
    const ofFleet = known.filter(({ subject }) => !OF_ONE_SERVER.test(subject)); // (2)
    return settle(tx, await read(tx, now), ofFleet, now);
  });
}

const OF_ONE_SERVER = / of server \S+ (ending|ended)$/;

async function settle(
  tx: Transaction,
  troubles: readonly Trouble[],
  known: readonly KnownIncident[],
  now: number,
): Promise<Looked> {
  const decision = decideIncidents(troubles, known, now, await visibleSince(tx, now));
  await markSeen(tx, decision.seen, now);
  for (const { id, title, detail } of decision.changed)
    await tx`
      update incidents set title = ${title}, detail = ${tx.json(detail)}
      where id = ${id} and (title <> ${title} or detail <> ${tx.json(detail)}::jsonb)`;
  await raiseIncidents(tx, null, decision.opened, now);
  await resolveNamed(tx, decision.resolved, RESOLVED_NOTE, now);
  return { opened: decision.opened.length, resolved: decision.resolved.length };
}

/** Unresolved ones, and resolved ones whose trouble was there a moment ago. */
async function knownIncidents(
  tx: Transaction,
  categories: readonly WatchedCategory[],
  now: number,
): Promise<KnownIncident[]> {
  const rows = await tx<
    {
      id: IncidentId;
      category: WatchedCategory;
      node_id: NodeId | null;
      subject: string;
      is_resolved: boolean;
      last_seen_at: Date;
    }[]
  >`
    select id, category, node_id, subject, status = 'resolved' as is_resolved,
      coalesce(last_seen_at, opened_at) as last_seen_at
    from incidents where category = any(${[...categories]})
      and (status <> 'resolved' or last_seen_at > ${new Date(now - LIMITS.incidentQuietMs)})
    order by status = 'resolved', opened_at`;
  return rows.map((row) => ({
    id: row.id,
    category: row.category,
    nodeId: row.node_id,
    subject: row.subject,
    isResolved: row.is_resolved,
    lastSeenAt: row.last_seen_at.getTime(),
  }));
}

async function markSeen(tx: Transaction, ids: readonly IncidentId[], now: number): Promise<void> {
  if (ids.length === 0) return;
  await tx`
    update incidents set last_seen_at = ${new Date(now)}
    where id = any(${[...ids]}) and last_seen_at < ${new Date(now - SEEN_AGAIN_MS)}`; // (3)
}

/** Silence of a server that was away proves nothing about the trouble. */
const visibleSince = async (tx: Transaction, now: number): Promise<number> =>
  (await readWatch(tx))?.hearingSince ?? now;
