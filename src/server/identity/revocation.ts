/**
 * Taking a node out, everywhere at once.
 *
 * 1. When `revokeNode` returns, each replica has closed what the node had open and refuses its next request:
 *    it has said so, or its lease has lapsed and it refuses every agent by itself (replica-lease.ts).
 * 2. Sequence numbers are committed in their order, so an acknowledged number covers all below it.
 * 3. What would let the node back in goes in the same transaction: its certificates and unused tokens.
 */
import { FairleadError } from "../../core/errors.ts";
import type { NodeId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import { sleep, systemClock } from "../../host/clock.ts";
import type { Database, Transaction } from "../db/database.ts";
import { LOCKS } from "../db/locks.ts";
import { appendEvents } from "../events/append.ts";
import { giveUpRevoked } from "../rollout/silence.ts";

export const REVOCATIONS_CHANNEL = "fairlead_revocations";
const lookEveryMs = 20;
/** A replica that renews its lease and does not apply what it reads is broken: the operator hears of it. */
const acknowledgeWithinMsDefault = 2 * LIMITS.replicaLeaseMs;

export async function revokeNode(
  db: Database,
  id: NodeId,
  actor: string,
  reason: string | null,
  { acknowledgeWithinMs = acknowledgeWithinMsDefault } = {},
): Promise<void> {
  const seq = await db.begin((tx) => record(tx, id, actor, reason));
  await everyReplicaKnows(db, seq, systemClock.monotonic() + acknowledgeWithinMs); // (1)
}

async function record(tx: Transaction, id: NodeId, actor: string, reason: string | null): Promise<number> {
  await tx`select pg_advisory_xact_lock(${LOCKS.revocations})`; // (2)
  // Before the node is locked: steps lock their rollout first, and then its nodes.
  await giveUpRevoked(tx, id, actor, reason);
  const [node] = await tx<{ revoked: boolean }[]>`
    select revoked_at is not null as revoked from nodes where id = ${id} for update`;
  if (node === undefined) throw new FairleadError("NOT_FOUND", `there is no node ${id}`);
  if (node.revoked) return lastSequence(tx, id);
  await tx`update nodes set revoked_at = now() where id = ${id}`;
  await tx`update node_certificates set revoked_at = now() where node_id = ${id} and revoked_at is null`; // (3)
  await tx`delete from enrollment_tokens where node_id = ${id}`;
  // Its peers learn of it from their heads (SNAP-10).
  await tx`
    insert into authority_revocations (kind, subject, reason, actor) values ('node_identity', ${id}, ${reason}, ${actor})
    on conflict do nothing`;
  const [row] = await tx<{ seq: number }[]>`
    insert into revocations (node_id, reason, actor) values (${id}, ${reason}, ${actor}) returning seq`;
  await appendEvents(tx, [{ kind: "node.revoked", node_id: id, actor, data: { reason } }]);
  await tx`select pg_notify(${REVOCATIONS_CHANNEL}, '')`;
  return row!.seq;
}

/** Revoked twice: the second caller waits for the same replicas as the first. */
async function lastSequence(tx: Transaction, id: NodeId): Promise<number> {
  const [row] = await tx<{ seq: number }[]>`
    select coalesce(max(seq), 0) as seq from revocations where node_id = ${id}`;
  return row!.seq;
}

async function everyReplicaKnows(db: Database, seq: number, deadline: number): Promise<void> {
  for (;;) {
    const behind = await db<{ id: string }[]>`
      select id from replicas where lease_until > clock_timestamp() and revocation_seq < ${seq}`;
    if (behind.length === 0) return;
    if (systemClock.monotonic() >= deadline) {
      throw new FairleadError("TIMEOUT", "the revocation is stored, but a replica has not confirmed it", {
        replicas: behind.map(({ id }) => id),
      });
    }
    await sleep(lookEveryMs);
  }
}
