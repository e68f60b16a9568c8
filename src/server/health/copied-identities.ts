/**
 * Two machines that speak with one node's key (heartbeats.ts notes when an agent speaks again that another one had
 * followed).
 *
 * 1. A restart is not a copy: the agent before it never speaks again. One late heartbeat is not a copy either: two
 *    returns within the window are asked for.
 * 2. The incident is resolved when no return was seen for as long as the window, or the node was revoked.
 */
import { copiedIncident, copySeenMs, type SpeakingAgent } from "../../core/incident/copied-identity.ts";
import type { NodeId } from "../../core/ids.ts";
import type { Database, Transaction } from "../db/database.ts";
import { LOCKS } from "../db/locks.ts";
import { raiseIncidents } from "../incidents/raise.ts";
import { resolveByItself } from "../incidents/resolve.ts";
import { databaseNow } from "./facts.ts";

/** How many nodes share their key now; null when another replica looks. */
export async function lookForCopies(db: Database, at?: number): Promise<number | null> {
  return db.begin(async (tx) => {
    const [lock] = await tx<{ held: boolean }[]>`select pg_try_advisory_xact_lock(${LOCKS.copies}) as held`;
    if (!lock!.held) return null;
    const now = at ?? (await databaseNow(tx));
    const since = new Date(now - copySeenMs);
    const copied = await tx<{ node_id: NodeId; node_name: string; instances: SpeakingAgent[] }[]>`
      select n.id as node_id, n.name as node_name, h.instances
      from node_heartbeats h join nodes n on n.id = h.node_id
      where h.instance_returns <> '{}' and h.instance_returns[2] > ${since} and n.revoked_at is null`; // (1)
    const drafts = copied.map(({ node_id, node_name, instances }) =>
      copiedIncident(node_id, node_name, instances),
    );
    await raiseIncidents(tx, null, drafts, now);
    await resolveQuiet(tx, since);
    return copied.length;
  });
}

/** Invariant 2. */
async function resolveQuiet(tx: Transaction, since: Date): Promise<void> {
  const quiet = await tx<{ node_id: NodeId }[]>`
    select n.id as node_id from incidents i join nodes n on n.id = i.node_id left join node_heartbeats h on h.node_id = n.id
    where i.category = 'identity_copied' and i.status <> 'resolved'
      and (n.revoked_at is not null or h.instance_returns[1] is null or h.instance_returns[1] <= ${since})`;
  if (quiet.length === 0) return;
  await resolveByItself(
    tx,
    "identity_copied",
    "one machine speaks for the node again, or the node was revoked",
    quiet.map(({ node_id }) => node_id),
  );
}
