/**
 * One look at the health of all nodes: rows in, the pure judgement, changed rows out, in one transaction.
 *
 * 1. One replica looks at a time; the others find the lock taken and go.
 * 2. What is written is what changed: a fleet that is well costs one query per look.
 * 3. What one look changes is bounded: when a whole fleet falls silent, nobody waits long for the events' lock.
 * 4. An active node with a fresh heartbeat, programs that are well and nothing remembered of it is not even read.
 */
import { evaluateNode, type HealthMemory } from "../../core/health/evaluate.ts";
import type { NodeId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Database, Transaction } from "../db/database.ts";
import { LOCKS } from "../db/locks.ts";
import { changeStates } from "./change-states.ts";
import { databaseNow, loadFacts } from "./facts.ts";
import { keepWatch } from "./watch.ts";

const TROUBLE = '$[*] ? (@.application_health == "critical" || @.sync_status == "stalled" || @.restarts > 0)';

export const CHANGES_MAX = 5_000;

/** How many nodes changed their state; null when another replica looks. */
export async function evaluateHealth(db: Database, at?: number): Promise<number | null> {
  return db.begin(async (tx) => {
    const [lock] = await tx<{ held: boolean }[]>`select pg_try_advisory_xact_lock(${LOCKS.health}) as held`;
    if (!lock!.held) return null; // (1)
    const now = at ?? (await databaseNow(tx));
    const { hearingSince } = await keepWatch(tx, now);
    const late = new Date(now - LIMITS.heartbeatLateMs);
    const nodes = await loadFacts(
      tx,
      hearingSince,
      tx`n.state in ('active', 'degraded', 'down') and (n.state <> 'active'
        or coalesce(hb.received_at, n.enrolled_at) <= ${late} or hb.programs @? ${TROUBLE}::jsonpath
        or nh.ill_since is not null)`, // (4)
    );
    const judged = nodes.map((node) => ({ ...node, result: evaluateNode(node.facts, now) }));
    await remember(
      tx,
      judged.flatMap(({ nodeId, facts, result }) =>
        isSame(facts.memory, result.memory) ? [] : [{ nodeId, ...result.memory }],
      ),
    );
    const changes = judged.flatMap(({ nodeId, facts, result }) =>
      result.reason === null ? [] : [{ nodeId, from: facts.state, to: result.state, reason: result.reason }],
    );
    return (await changeStates(tx, changes.slice(0, CHANGES_MAX))).length; // (3)
  });
}

const isSame = (a: HealthMemory, b: HealthMemory): boolean =>
  a.wellSince === b.wellSince &&
  a.illSince === b.illSince &&
  a.seenRestarts === b.seenRestarts &&
  a.baseRestarts === b.baseRestarts &&
  a.baseAt === b.baseAt;

async function remember(
  tx: Transaction,
  memories: readonly (HealthMemory & { readonly nodeId: NodeId })[],
): Promise<void> {
  if (memories.length === 0) return; // (2)
  await tx`
    insert into node_health (node_id, well_since, ill_since, seen_restarts, base_restarts, base_at)
    select m."nodeId", to_timestamp(m."wellSince" / 1000.0), to_timestamp(m."illSince" / 1000.0), m."seenRestarts",
      m."baseRestarts", to_timestamp(m."baseAt" / 1000.0)
    from jsonb_to_recordset(${tx.json(memories as never)}) as m("nodeId" uuid, "wellSince" double precision,
      "illSince" double precision, "seenRestarts" bigint, "baseRestarts" bigint, "baseAt" double precision)
    on conflict (node_id) do update set well_since = excluded.well_since, ill_since = excluded.ill_since,
      seen_restarts = excluded.seen_restarts, base_restarts = excluded.base_restarts, base_at = excluded.base_at`;
}
