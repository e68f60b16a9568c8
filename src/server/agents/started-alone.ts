/**
 * Programs that a node started without the control plane (SNAP-9), told when it is back: an event for each start, and an
 * incident where the authority of the program had expired.
 *
 * 1. A start is told once, however often it is reported: the profile's row holds the last one that was told. A different
 *    time is a different start, also an earlier time: the node's clock may have been set back.
 * 2. A node cannot fill the history: one event a minute for each of its programs. A start that comes sooner is told with
 *    the first heartbeat after the minute.
 * 3. An incident does not wait for that minute: while it is open, the same one is not opened again.
 */
import { startedAloneText } from "../../core/degraded/started-alone-text.ts";
import type { NodeId, ProfileId } from "../../core/ids.ts";
import type { IncidentDraft } from "../../core/incident/draft.ts";
import type { Heartbeat } from "../../core/protocol/agent-api.ts";
import type { Database, Transaction } from "../db/database.ts";
import { appendEvents } from "../events/append.ts";
import { raiseIncidents } from "../incidents/raise.ts";

const TELL_EVERY_SECONDS = 60;

interface Start {
  readonly node_id: NodeId;
  readonly chain_profile_id: ProfileId;
  readonly at: string;
  readonly expired_since: string | null;
}

interface Untold extends Start {
  readonly name: string;
  readonly is_due: boolean;
}

export async function tellStartsAlone(
  db: Database,
  reported: readonly { readonly nodeId: NodeId; readonly heartbeat: Heartbeat }[],
  now: number,
): Promise<void> {
  const starts = reported.flatMap(({ nodeId, heartbeat }) =>
    heartbeat.programs.flatMap(({ chain_profile_id, started_alone }): Start[] =>
      started_alone === undefined ? [] : [{ node_id: nodeId, chain_profile_id, ...started_alone }],
    ),
  );
  if (starts.length === 0) return; // nearly always: no query
  await db.begin(async (tx) => {
    const untold = await lockUntold(tx, starts);
    const due = untold.filter(({ is_due }) => is_due);
    await markTold(tx, due);
    const expired = untold.filter(({ expired_since }) => expired_since !== null);
    await raiseIncidents(tx, null, expired.map(incidentOf), now); // (3)
    await appendEvents(
      tx,
      due.map(({ node_id, chain_profile_id, at, expired_since }) => ({
        kind: "node.started_alone",
        node_id,
        data: { chain_profile_id, at, expired_since },
      })),
    );
  });
}

/** Locks in the order of the ids: two replicas that store heartbeats of the same nodes cannot deadlock. */
async function lockUntold(tx: Transaction, starts: readonly Start[]): Promise<Untold[]> {
  const rows = await tx<Untold[]>`
    select s.node_id, s.chain_profile_id, s.at, s.expired_since, n.name,
      (p.started_alone_told_at > clock_timestamp() - make_interval(secs => ${TELL_EVERY_SECONDS})
        and p.started_alone_told_at <= clock_timestamp()) is not true as is_due -- (2)
    from jsonb_to_recordset(${tx.json(starts as never)}) as s(node_id uuid, chain_profile_id text, at text,
      expired_since text)
    join node_profiles p on p.node_id = s.node_id and p.chain_profile_id = s.chain_profile_id
    join nodes n on n.id = s.node_id
    where p.started_alone_at is distinct from s.at::timestamptz -- (1)
    order by p.node_id, p.chain_profile_id for no key update of p`;
  // A heartbeat may name a program twice.
  return [...new Map(rows.map((row) => [`${row.node_id} ${row.chain_profile_id}`, row])).values()];
}

async function markTold(tx: Transaction, due: readonly Start[]): Promise<void> {
  if (due.length === 0) return;
  await tx`
    update node_profiles p set started_alone_at = s.at::timestamptz, started_alone_told_at = clock_timestamp()
    from jsonb_to_recordset(${tx.json(due as never)}) as s(node_id uuid, chain_profile_id text, at text)
    where p.node_id = s.node_id and p.chain_profile_id = s.chain_profile_id`;
}

const incidentOf = ({ name, ...start }: Untold): IncidentDraft => ({
  category: "started_on_expired_authority",
  severity: "warning",
  nodeId: start.node_id,
  subject: start.chain_profile_id,
  title: `${name}: ${start.chain_profile_id} was ${startedAloneText(start)}`,
  detail: { chain_profile_id: start.chain_profile_id, at: start.at, expired_since: start.expired_since },
  recoveryPlan:
    "The node was on its own and started what it last ran. If that program should still run, resolve this incident. " +
    "To forbid such starts, set restart_after_expiry: never in a degraded_mode policy.",
});
