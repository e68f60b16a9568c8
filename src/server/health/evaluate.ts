/**
 * One look at the health of all nodes and their programs: rows in, the pure judgement, changed rows out, in one
 * transaction.
 *
 * 1. One replica looks at a time; the others find the lock taken and go.
 * 2. Only changes are written: a fleet that is well costs two queries per look.
 * 3. The changes of one look are bounded: when a whole fleet falls silent, the lock on events is held briefly.
 * 4. An active node with a fresh heartbeat is not read, nor an active program that is well and of which nothing is remembered.
 */
import { judgeProgram, type HealthMemory } from "../../core/health/evaluate.ts";
import { judgePresence } from "../../core/health/presence.ts";
import type { NodeId, ProfileId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Database, Transaction } from "../db/database.ts";
import { LOCKS } from "../db/locks.ts";
import { changePresences, changeProfiles } from "./change-states.ts";
import { databaseNow, loadNodes, loadPrograms } from "./facts.ts";
import { keepWatch } from "./watch.ts";

const TROUBLE = '$[*] ? (@.application_health == "critical" || @.sync_status == "stalled" || @.restarts > 0)';

export const CHANGES_MAX = 5_000;

/** How many states changed; null when another replica looks. */
export async function evaluateHealth(db: Database, at?: number): Promise<number | null> {
  return db.begin(async (tx) => {
    const [lock] = await tx<{ held: boolean }[]>`select pg_try_advisory_xact_lock(${LOCKS.health}) as held`;
    if (!lock!.held) return null; // (1)
    const now = at ?? (await databaseNow(tx));
    const { hearingSince } = await keepWatch(tx, now);
    const changed = await judgePresences(tx, hearingSince, now);
    return changed + (await judgePrograms(tx, hearingSince, now, CHANGES_MAX - changed)); // (3)
  });
}

async function judgePresences(tx: Transaction, hearingSince: number, now: number): Promise<number> {
  const late = new Date(now - LIMITS.heartbeatLateMs);
  const nodes = await loadNodes(
    tx,
    hearingSince,
    tx`(n.state <> 'active' or coalesce(hb.received_at, n.enrolled_at) <= ${late})`, // (4)
  );
  const judged = nodes.map((node) => ({ ...node, result: judgePresence(node.facts, now) }));
  await rememberNodes(
    tx,
    judged.flatMap(({ nodeId, facts, result: { wellSince } }) =>
      facts.wellSince === wellSince ? [] : [{ nodeId, wellSince }],
    ),
  );
  const changes = judged.flatMap(({ nodeId, facts, result: { state, reason } }) =>
    reason === null ? [] : [{ nodeId, from: facts.state, to: state, reason }],
  );
  return changePresences(tx, changes.slice(0, CHANGES_MAX));
}

async function judgePrograms(
  tx: Transaction,
  hearingSince: number,
  now: number,
  most: number,
): Promise<number> {
  const programs = await loadPrograms(
    tx,
    hearingSince,
    tx`np.state in ('active', 'degraded', 'failed')
      and (np.state <> 'active' or hb.programs @? ${TROUBLE}::jsonpath or ph.ill_since is not null)`, // (4)
  );
  const judged = programs.map((program) => ({ ...program, result: judgeProgram(program.facts, now) }));
  await rememberPrograms(
    tx,
    judged.flatMap(({ nodeId, profile, facts, result: { memory } }) =>
      isSame(facts.memory, memory) ? [] : [{ nodeId, profile, ...memory }],
    ),
  );
  const changes = judged.flatMap(({ nodeId, profile, facts, result: { state, reason } }) =>
    reason === null ? [] : [{ nodeId, profile, from: facts.state, to: state, reason }],
  );
  return changeProfiles(tx, changes.slice(0, most));
}

const isSame = (a: HealthMemory, b: HealthMemory): boolean =>
  a.wellSince === b.wellSince &&
  a.illSince === b.illSince &&
  a.seenRestarts === b.seenRestarts &&
  a.baseRestarts === b.baseRestarts &&
  a.baseAt === b.baseAt;

async function rememberNodes(
  tx: Transaction,
  memories: readonly { readonly nodeId: NodeId; readonly wellSince: number | null }[],
): Promise<void> {
  if (memories.length === 0) return; // (2)
  await tx`
    insert into node_health (node_id, well_since)
    select m."nodeId", to_timestamp(m."wellSince" / 1000.0)
    from jsonb_to_recordset(${tx.json(memories)}) as m("nodeId" uuid, "wellSince" double precision)
    on conflict (node_id) do update set well_since = excluded.well_since`;
}

async function rememberPrograms(
  tx: Transaction,
  memories: readonly (HealthMemory & { readonly nodeId: NodeId; readonly profile: ProfileId })[],
): Promise<void> {
  if (memories.length === 0) return; // (2)
  await tx`
    insert into profile_health (node_id, chain_profile_id, well_since, ill_since, seen_restarts, base_restarts, base_at)
    select m."nodeId", m.profile, to_timestamp(m."wellSince" / 1000.0), to_timestamp(m."illSince" / 1000.0),
      m."seenRestarts", m."baseRestarts", to_timestamp(m."baseAt" / 1000.0)
    from jsonb_to_recordset(${tx.json(memories as never)}) as m("nodeId" uuid, profile text,
      "wellSince" double precision, "illSince" double precision, "seenRestarts" bigint, "baseRestarts" bigint,
      "baseAt" double precision)
    on conflict (node_id, chain_profile_id) do update set well_since = excluded.well_since,
      ill_since = excluded.ill_since, seen_restarts = excluded.seen_restarts, base_restarts = excluded.base_restarts,
      base_at = excluded.base_at`;
}
