/**
 * Nodes at work that do not answer (ROLL-30): looked for every few seconds by one replica, shown with an event, and given
 * up by a signal of their rollout after `node_silence_max`. A step of the rollout reads it like an operator's.
 *
 * 1. One replica looks at a time; the others find the lock taken and go.
 * 2. Signals before marks: a signal waits for the step that holds its rollout, and a mark that waited for that step
 *    while the step waits for the marked row would be a deadlock. Rows that a step holds are left for the next look.
 * 3. One signal per command and presence of the control plane: a node that is launched again is listened to anew, and a
 *    step drops a signal from before an absence.
 */
import { randomUUID } from "node:crypto";
import { availableSince } from "../../core/health/watch.ts";
import type { NodeId, RolloutId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import { DRIVE_ACTOR, silenceOf } from "../../core/rollout/silence.ts";
import { ACTIVE_STATUSES } from "../../core/rollout/states.ts";
import type { UpgradePhase } from "../../core/upgrade/phases.ts";
import type { Database, Transaction } from "../db/database.ts";
import { LOCKS } from "../db/locks.ts";
import { appendEvents } from "../events/append.ts";
import { databaseNow } from "../health/facts.ts";
import { readWatch } from "../health/watch.ts";
import { ms } from "./rollout-record.ts";

/** What one look changes is bounded; the next one follows at once. */
export const SILENCES_MAX = 5_000;

interface Listened {
  readonly rollout_id: RolloutId;
  readonly group_id: string | null;
  readonly node_id: NodeId;
  readonly command_id: string;
  readonly launched_at: Date | null;
  readonly silent_since: Date | null;
  readonly upgrade_phase: UpgradePhase | null;
  readonly node_silence_max_ms: number;
  readonly received_at: Date | null;
}

/** How many nodes fell silent, were heard again or were given up; null when another replica looks. */
export async function watchSilence(db: Database, at?: number, most = SILENCES_MAX): Promise<number | null> {
  return db.begin(async (tx) => {
    const [lock] = await tx<{ held: boolean }[]>`select pg_try_advisory_xact_lock(${LOCKS.silence}) as held`;
    if (!lock!.held) return null; // (1)
    const now = at ?? (await databaseNow(tx));
    const listening = { now, availableSince: availableSince(await readWatch(tx), now) };
    const judged = (await loadListened(tx, now, most)).map((node) => ({
      node,
      silence: judge(node, listening),
    }));
    const over = judged.filter(({ silence }) => silence.kind === "silent" && silence.isOver);
    const givenUp = await giveUp(
      tx,
      over.map(({ node }) => node),
      listening.availableSince,
    ); // (2)
    const changed = judged.filter(
      ({ node, silence }) => (silence.kind === "silent") !== (node.silent_since !== null),
    );
    await mark(
      tx,
      changed.map(({ node, silence }) => ({ node, since: silence.kind === "silent" ? silence.since : null })),
      now,
    );
    return givenUp + changed.length;
  });
}

const judge = (node: Listened, listening: { readonly now: number; readonly availableSince: number }) =>
  silenceOf(
    { heardAt: ms(node.received_at), launchedAt: ms(node.launched_at), phase: node.upgrade_phase },
    { ...listening, silenceMaxMs: node.node_silence_max_ms },
  );

/**
 * Nodes at work that may be silent, and those that were. The bound counts all of them: marked nodes whose silence goes on
 * within its limit need nothing and come last, or they would hide the others.
 */
const loadListened = (tx: Transaction, now: number, most: number): Promise<Listened[]> => tx<Listened[]>`
  select rn.rollout_id, r.group_id, rn.node_id, rn.command_id, rn.launched_at, rn.silent_since, rn.upgrade_phase,
    r.node_silence_max_ms, hb.received_at
  from rollouts r
  join rollout_nodes rn on rn.rollout_id = r.id and rn.status = 'in_progress'
  left join node_heartbeats hb on hb.node_id = rn.node_id
  cross join lateral (select
    greatest(hb.received_at, rn.launched_at) + make_interval(secs =>
      case when rn.upgrade_phase = 'VERIFYING' then ${LIMITS.heartbeatLateMs}
        else least(${LIMITS.nodeSilentMs}, r.node_silence_max_ms) end / 1000.0) <= ${new Date(now)} as is_silent,
    coalesce(rn.upgrade_phase <> 'VERIFYING', true) and coalesce(hb.received_at, rn.launched_at)
      + make_interval(secs => r.node_silence_max_ms / 1000.0) <= ${new Date(now)} as is_over) judged
  where r.status = any(${[...ACTIVE_STATUSES]}) and (rn.silent_since is not null or judged.is_silent)
  order by rn.silent_since is not null and judged.is_silent and not judged.is_over
  limit ${most}`;

async function giveUp(tx: Transaction, nodes: readonly Listened[], since: number): Promise<number> {
  if (nodes.length === 0) return 0;
  const signals = nodes.map(({ rollout_id, node_id, command_id, node_silence_max_ms }) => ({
    rollout_id,
    kind: "give_up",
    node_id,
    actor: DRIVE_ACTOR,
    reason: `no heartbeat for ${node_silence_max_ms / 1000} s (node_silence_max)`,
    idempotency_key: `${rollout_id}:silence:${command_id}:${since}`, // (3)
  }));
  const stored = await tx`
    insert into rollout_signals ${tx(signals)} on conflict (idempotency_key) do nothing returning 1`;
  return stored.length;
}

interface Mark {
  readonly node: Listened;
  readonly since: number | null;
}

async function mark(tx: Transaction, marks: readonly Mark[], now: number): Promise<void> {
  if (marks.length === 0) return;
  const rows = marks.map(({ node, since }) => ({ ...node, since }));
  const marked = await tx<{ node_id: NodeId }[]>`
    with wanted as materialized (
      select rn.id, m.since from rollout_nodes rn
      join jsonb_to_recordset(${tx.json(rows)}) as m(rollout_id uuid, node_id uuid, command_id uuid, since double precision)
        on rn.rollout_id = m.rollout_id and rn.node_id = m.node_id and rn.command_id = m.command_id
      where rn.status = 'in_progress' order by rn.id for no key update of rn skip locked)
    update rollout_nodes rn set silent_since = to_timestamp(wanted.since / 1000.0)
    from wanted where rn.id = wanted.id returning rn.node_id`; // (2)
  const ids = new Set(marked.map(({ node_id }) => node_id));
  const told = marks.filter(({ node }) => ids.has(node.node_id));
  await appendEvents(
    tx,
    told.map(({ node: { rollout_id, group_id, node_id }, since }) => ({
      kind: since === null ? "node.heard" : "node.silent",
      rollout_id,
      group_id,
      node_id,
      data:
        since === null
          ? {}
          : {
              since: new Date(since).toISOString(),
              reason: `no heartbeat for ${Math.round((now - since) / 1000)} s`,
            },
    })),
  );
}

/** A revoked node is waited for by nobody: each active rollout ends it, in the name of whoever revoked it. */
export async function giveUpRevoked(
  tx: Transaction,
  nodeId: NodeId,
  actor: string,
  reason: string | null,
): Promise<void> {
  const open = await tx<{ rollout_id: RolloutId }[]>`
    select rn.rollout_id from rollout_nodes rn join rollouts r on r.id = rn.rollout_id
    join nodes n on n.id = rn.node_id and n.revoked_at is null
    where rn.node_id = ${nodeId} and r.status = any(${[...ACTIVE_STATUSES]})
      and (rn.status in ('pending', 'in_progress') or rn.retry_requested)`;
  for (const { rollout_id } of open)
    await tx`
      insert into rollout_signals (rollout_id, kind, node_id, actor, reason, idempotency_key)
      values (${rollout_id}, 'give_up', ${nodeId}, ${actor}, ${reason}, ${`${rollout_id}:revoked:${randomUUID()}`})`;
}
